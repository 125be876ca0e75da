import type { PageMessages } from "./en.ts";

export const it: PageMessages = {
  title: "Stato di {page}",
  skip: "Vai al contenuto",
  back: "Torna a {page}",

  all_operational: "Tutti i servizi funzionano",
  maintenance_now: "È in corso una manutenzione",
  some_degraded: "Alcuni servizi non funzionano bene",
  some_partial_outage: "Alcuni servizi sono parzialmente interrotti",
  some_major_outage: "Alcuni servizi sono interrotti",
  no_services: "Qui non è ancora mostrato alcun servizio",

  operational: "Operativo",
  maintenance: "Manutenzione",
  degraded: "Degradato",
  partial_outage: "Interruzione parziale",
  major_outage: "Interruzione grave",

  cancelled: "annullata",

  announcement: "Avviso",
  open_incidents: "Incidenti aperti",
  no_open_incidents: "Non ci sono incidenti aperti.",
  since: "inizio: {time}",
  affects: "Servizi interessati: {services}",
  more_updates: "Tutti gli aggiornamenti",
  planned: "Manutenzioni pianificate",
  no_planned: "Non ci sono manutenzioni pianificate.",
  services: "Servizi",

  uptime: "Disponibilità",
  uptime_over: "{percent} in {days} giorni",
  uptime_since: "{percent} dal {date}",
  uptime_unknown: "Non ancora misurata",
  no_data: "Nessun dato",
  days_with_trouble: "Giorni con problemi",
  day: "Giorno",
  worst_status: "Stato peggiore",
  down_for: "Tempo di interruzione",

  metrics: "Metriche",
  metrics_window: "Le ultime 24 ore",
  metrics_none: "Non ci sono misurazioni delle ultime 24 ore.",
  metrics_away: "Le misurazioni non possono essere mostrate in questo momento.",
  response_time: "Tempo di risposta",
  error_rate: "Tasso di errore",
  average: "Media {value}",
  highest: "Massimo {value}",

  past: "Incidenti passati",
  no_past: "Non ci sono stati incidenti negli ultimi {days} giorni.",
  history: "Cronologia",
  no_history: "Non ci sono stati incidenti.",
  older: "Meno recenti",
  newer: "Più recenti",
  started_at: "Inizio",
  resolved_at: "Risolto",
  lasted: "Durata",
  updates: "Aggiornamenti",

  follow: "Segui",
  calendar: "Calendario",

  times_in: "Fuso orario: {zone}.",
  made_with: "Realizzato con {product}",
  language: "Lingua",
  choose_language: "Mostra",

  stale: "I dati in tempo reale non sono raggiungibili. Ultimo aggiornamento: {time}.",
  preview: "Questa è l’anteprima di una bozza. La vede solo chi ha questo link.",

  password_title: "Questa pagina richiede una password",
  password: "Password",
  password_hint: "Suggerimento: {hint}",
  password_button: "Mostra la pagina",
  password_wrong: "La password non è corretta.",
  password_wait: "Troppi tentativi. Riprova tra {seconds} s.",

  not_found: "Questa pagina non esiste",
  not_found_text: "L’indirizzo potrebbe essere sbagliato o la pagina potrebbe essere stata rimossa.",
  unavailable: "Questa pagina non può essere mostrata in questo momento",
  unavailable_text: "Riprova tra qualche secondo.",
  to_start: "Vai alla pagina iniziale",

  feed_incidents: "Incidenti e manutenzioni di {page}",
  badge_label: "stato",
};
