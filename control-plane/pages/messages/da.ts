import type { PageMessages } from "./en.ts";

export const da: PageMessages = {
  title: "Status for {page}",
  skip: "Gå til indholdet",
  back: "Tilbage til {page}",

  all_operational: "Alle tjenester fungerer",
  maintenance_now: "Vedligeholdelse er i gang",
  some_degraded: "Nogle tjenester fungerer ikke godt",
  some_partial_outage: "Nogle tjenester er delvist nede",
  some_major_outage: "Nogle tjenester er nede",
  no_services: "Her vises endnu ingen tjenester",

  operational: "I drift",
  maintenance: "Vedligeholdelse",
  degraded: "Nedsat funktion",
  partial_outage: "Delvist nedbrud",
  major_outage: "Alvorligt nedbrud",

  cancelled: "aflyst",

  announcement: "Meddelelse",
  open_incidents: "Åbne hændelser",
  no_open_incidents: "Der er ingen åbne hændelser.",
  since: "siden {time}",
  affects: "Berører {services}",
  more_updates: "Alle opdateringer",
  planned: "Planlagt vedligeholdelse",
  no_planned: "Der er ikke planlagt vedligeholdelse.",
  services: "Tjenester",

  uptime: "Oppetid",
  uptime_over: "{percent} over {days} dage",
  uptime_since: "{percent} siden {date}",
  uptime_unknown: "Endnu ikke målt",
  no_data: "Ingen data",
  days_with_trouble: "Dage med problemer",
  day: "Dag",
  worst_status: "Værste status",
  down_for: "Nedetid",

  metrics: "Målinger",
  metrics_window: "De seneste 24 timer",
  metrics_none: "Der er ingen målinger fra de seneste 24 timer.",
  metrics_away: "Målingerne kan ikke vises lige nu.",
  response_time: "Svartid",
  error_rate: "Fejlrate",
  average: "Gennemsnit {value}",
  highest: "Højeste {value}",

  past: "Tidligere hændelser",
  no_past: "Der var ingen hændelser i de seneste {days} dage.",
  history: "Historik",
  no_history: "Der var ingen hændelser.",
  older: "Ældre",
  newer: "Nyere",
  started_at: "Startet",
  resolved_at: "Løst",
  lasted: "Varighed",
  updates: "Opdateringer",

  follow: "Følg",
  calendar: "Kalender",

  times_in: "Tidszone: {zone}.",
  made_with: "Lavet med {product}",
  language: "Sprog",
  choose_language: "Vis",

  stale: "De aktuelle data kan ikke hentes. Det, du ser, er fra {time}.",
  preview: "Dette er en forhåndsvisning af et udkast. Kun personer med dette link kan se den.",

  password_title: "Denne side kræver en adgangskode",
  password: "Adgangskode",
  password_hint: "Tip: {hint}",
  password_button: "Vis siden",
  password_wrong: "Adgangskoden er forkert.",
  password_wait: "For mange forsøg. Prøv igen om {seconds} s.",

  not_found: "Siden findes ikke",
  not_found_text: "Måske er adressen tastet forkert, eller siden er fjernet.",
  unavailable: "Siden kan ikke vises lige nu",
  unavailable_text: "Prøv igen om nogle få sekunder.",
  to_start: "Til startsiden",

  feed_incidents: "Hændelser og vedligeholdelse på {page}",
  badge_label: "status",
};
