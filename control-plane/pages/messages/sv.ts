import type { PageMessages } from "./en.ts";

export const sv: PageMessages = {
  title: "Status för {page}",
  skip: "Gå till innehållet",
  back: "Tillbaka till {page}",

  all_operational: "Alla tjänster fungerar",
  maintenance_now: "Underhåll pågår",
  some_degraded: "Vissa tjänster fungerar inte som de ska",
  some_partial_outage: "Vissa tjänster ligger delvis nere",
  some_major_outage: "Vissa tjänster ligger nere",
  no_services: "Inga tjänster visas här än",

  operational: "I drift",
  maintenance: "Underhåll",
  degraded: "Nedsatt funktion",
  partial_outage: "Delvis avbrott",
  major_outage: "Allvarligt avbrott",

  cancelled: "inställt",

  announcement: "Meddelande",
  open_incidents: "Pågående incidenter",
  no_open_incidents: "Det finns inga pågående incidenter.",
  since: "sedan {time}",
  affects: "Berörda tjänster: {services}",
  more_updates: "Alla uppdateringar",
  planned: "Planerat underhåll",
  no_planned: "Inget underhåll är planerat.",
  services: "Tjänster",

  uptime: "Upptid",
  uptime_over: "{percent} under {days} dagar",
  uptime_since: "{percent} sedan {date}",
  uptime_unknown: "Inte uppmätt än",
  no_data: "Inga data",
  days_with_trouble: "Dagar med problem",
  day: "Dag",
  worst_status: "Sämsta status",
  down_for: "Avbrottstid",

  metrics: "Mätvärden",
  metrics_window: "De senaste 24 timmarna",
  metrics_none: "Det finns inga mätvärden från de senaste 24 timmarna.",
  metrics_away: "Mätvärdena kan inte visas just nu.",
  response_time: "Svarstid",
  error_rate: "Felfrekvens",
  average: "Genomsnitt {value}",
  highest: "Högsta {value}",

  past: "Tidigare incidenter",
  no_past: "Det var inga incidenter de senaste {days} dagarna.",
  history: "Historik",
  no_history: "Det var inga incidenter.",
  older: "Äldre",
  newer: "Nyare",
  started_at: "Startade",
  resolved_at: "Löst",
  lasted: "Varaktighet",
  updates: "Uppdateringar",

  follow: "Följ",
  calendar: "Kalender",

  times_in: "Tidszon: {zone}.",
  made_with: "Skapad med {product}",
  language: "Språk",
  choose_language: "Visa",

  stale: "Aktuella data kan inte hämtas. Det du ser är från {time}.",
  preview: "Det här är en förhandsvisning av ett utkast. Bara de som har den här länken ser den.",

  password_title: "Den här sidan kräver ett lösenord",
  password: "Lösenord",
  password_hint: "Ledtråd: {hint}",
  password_button: "Visa sidan",
  password_wrong: "Lösenordet är fel.",
  password_wait: "För många försök. Försök igen om {seconds} s.",

  not_found: "Sidan finns inte",
  not_found_text: "Adressen kan vara felskriven, eller så har sidan tagits bort.",
  unavailable: "Sidan kan inte visas just nu",
  unavailable_text: "Försök igen om några sekunder.",
  to_start: "Till startsidan",

  feed_incidents: "Incidenter och underhåll på {page}",
  badge_label: "status",
};
