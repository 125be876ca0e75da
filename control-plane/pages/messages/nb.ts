import type { PageMessages } from "./en.ts";

export const nb: PageMessages = {
  title: "Status for {page}",
  skip: "Gå til innholdet",
  back: "Tilbake til {page}",

  all_operational: "Alle tjenester fungerer",
  maintenance_now: "Vedlikehold pågår",
  some_degraded: "Noen tjenester fungerer ikke som de skal",
  some_partial_outage: "Noen tjenester er delvis nede",
  some_major_outage: "Noen tjenester er nede",
  no_services: "Ingen tjenester vises her ennå",

  operational: "I drift",
  maintenance: "Vedlikehold",
  degraded: "Redusert funksjon",
  partial_outage: "Delvis avbrudd",
  major_outage: "Alvorlig avbrudd",

  cancelled: "avlyst",

  announcement: "Kunngjøring",
  open_incidents: "Åpne hendelser",
  no_open_incidents: "Det er ingen åpne hendelser.",
  since: "siden {time}",
  affects: "Berører {services}",
  more_updates: "Alle oppdateringer",
  planned: "Planlagt vedlikehold",
  no_planned: "Det er ikke planlagt vedlikehold.",
  services: "Tjenester",

  uptime: "Oppetid",
  uptime_over: "{percent} over {days} dager",
  uptime_since: "{percent} siden {date}",
  uptime_unknown: "Ikke målt ennå",
  no_data: "Ingen data",
  days_with_trouble: "Dager med problemer",
  day: "Dag",
  worst_status: "Verste status",
  down_for: "Nedetid",

  metrics: "Målinger",
  metrics_window: "De siste 24 timene",
  metrics_none: "Det finnes ingen målinger fra de siste 24 timene.",
  metrics_away: "Målingene kan ikke vises akkurat nå.",
  response_time: "Responstid",
  error_rate: "Feilrate",
  average: "Gjennomsnitt {value}",
  highest: "Høyeste {value}",

  past: "Tidligere hendelser",
  no_past: "Det var ingen hendelser de siste {days} dagene.",
  history: "Historikk",
  no_history: "Det var ingen hendelser.",
  older: "Eldre",
  newer: "Nyere",
  started_at: "Startet",
  resolved_at: "Løst",
  lasted: "Varighet",
  updates: "Oppdateringer",

  follow: "Følg",
  calendar: "Kalender",

  times_in: "Tidssone: {zone}.",
  made_with: "Laget med {product}",
  language: "Språk",
  choose_language: "Vis",

  stale: "De aktuelle dataene kan ikke hentes. Det du ser, er fra {time}.",
  preview: "Dette er en forhåndsvisning av et utkast. Bare personer med denne lenken kan se den.",

  password_title: "Denne siden krever et passord",
  password: "Passord",
  password_hint: "Tips: {hint}",
  password_button: "Vis siden",
  password_wrong: "Passordet er feil.",
  password_wait: "For mange forsøk. Prøv igjen om {seconds} s.",

  not_found: "Siden finnes ikke",
  not_found_text: "Kanskje er adressen skrevet feil, eller siden er fjernet.",
  unavailable: "Siden kan ikke vises akkurat nå",
  unavailable_text: "Prøv igjen om noen sekunder.",
  to_start: "Til startsiden",

  feed_incidents: "Hendelser og vedlikehold på {page}",
  badge_label: "status",
};
