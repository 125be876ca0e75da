import type { PageMessages } from "./en.ts";

export const cs: PageMessages = {
  title: "{page} – stav služeb",
  skip: "Přejít k obsahu",
  back: "Zpět na {page}",

  all_operational: "Všechny služby fungují",
  maintenance_now: "Probíhá údržba",
  some_degraded: "Některé služby nefungují dobře",
  some_partial_outage: "Některé služby jsou částečně mimo provoz",
  some_major_outage: "Některé služby jsou mimo provoz",
  no_services: "Zatím se tu nezobrazují žádné služby",

  operational: "V provozu",
  maintenance: "Údržba",
  degraded: "Zhoršený provoz",
  partial_outage: "Částečný výpadek",
  major_outage: "Vážný výpadek",

  cancelled: "zrušeno",

  announcement: "Oznámení",
  open_incidents: "Otevřené incidenty",
  no_open_incidents: "Žádný incident není otevřený.",
  since: "od {time}",
  affects: "Dotčené služby: {services}",
  more_updates: "Všechny aktualizace",
  planned: "Plánovaná údržba",
  no_planned: "Žádná údržba není naplánována.",
  services: "Služby",

  uptime: "Dostupnost",
  uptime_over: "{percent} za {days} dnů",
  uptime_since: "{percent} od {date}",
  uptime_unknown: "Zatím neměřeno",
  no_data: "Žádná data",
  days_with_trouble: "Dny s problémy",
  day: "Den",
  worst_status: "Nejhorší stav",
  down_for: "Doba výpadku",

  metrics: "Metriky",
  metrics_window: "Posledních 24 hodin",
  metrics_none: "Za posledních 24 hodin nejsou k dispozici žádná měření.",
  metrics_away: "Měření teď nelze zobrazit.",
  response_time: "Doba odezvy",
  error_rate: "Chybovost",
  average: "Průměr {value}",
  highest: "Maximum {value}",

  past: "Minulé incidenty",
  no_past: "Za posledních {days} dnů nedošlo k žádnému incidentu.",
  history: "Historie",
  no_history: "Nedošlo k žádnému incidentu.",
  older: "Starší",
  newer: "Novější",
  started_at: "Začátek",
  resolved_at: "Vyřešeno",
  lasted: "Trvání",
  updates: "Aktualizace",

  follow: "Sledovat",
  calendar: "Kalendář",

  times_in: "Časové pásmo: {zone}.",
  made_with: "Vytvořeno pomocí {product}",
  language: "Jazyk",
  choose_language: "Zobrazit",

  stale: "Aktuální data nejsou dostupná. Zobrazený stav: {time}.",
  preview: "Toto je náhled konceptu. Vidí ho jen ti, kdo mají tento odkaz.",

  password_title: "Tato stránka vyžaduje heslo",
  password: "Heslo",
  password_hint: "Nápověda: {hint}",
  password_button: "Zobrazit stránku",
  password_wrong: "Heslo není správné.",
  password_wait: "Příliš mnoho pokusů. Zkuste to prosím znovu za {seconds} s.",

  not_found: "Tato stránka neexistuje",
  not_found_text: "Adresa je možná napsána chybně, nebo byla stránka odstraněna.",
  unavailable: "Tuto stránku teď nelze zobrazit",
  unavailable_text: "Zkuste to prosím znovu za několik sekund.",
  to_start: "Na úvodní stránku",

  feed_incidents: "Incidenty a údržba na {page}",
  badge_label: "stav",
};
