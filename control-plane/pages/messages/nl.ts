import type { PageMessages } from "./en.ts";

export const nl: PageMessages = {
  title: "Status van {page}",
  skip: "Naar de inhoud",
  back: "Terug naar {page}",

  all_operational: "Alle diensten werken",
  maintenance_now: "Er is onderhoud bezig",
  some_degraded: "Sommige diensten werken niet goed",
  some_partial_outage: "Sommige diensten zijn gedeeltelijk uitgevallen",
  some_major_outage: "Sommige diensten zijn uitgevallen",
  no_services: "Hier worden nog geen diensten getoond",

  operational: "Operationeel",
  maintenance: "Onderhoud",
  degraded: "Verminderde werking",
  partial_outage: "Gedeeltelijke uitval",
  major_outage: "Ernstige uitval",

  cancelled: "geannuleerd",

  announcement: "Mededeling",
  open_incidents: "Openstaande incidenten",
  no_open_incidents: "Er zijn geen openstaande incidenten.",
  since: "sinds {time}",
  affects: "Getroffen: {services}",
  more_updates: "Alle updates",
  planned: "Gepland onderhoud",
  no_planned: "Er is geen onderhoud gepland.",
  services: "Diensten",

  uptime: "Beschikbaarheid",
  uptime_over: "{percent} over {days} dagen",
  uptime_since: "{percent} sinds {date}",
  uptime_unknown: "Nog niet gemeten",
  no_data: "Geen gegevens",
  days_with_trouble: "Dagen met problemen",
  day: "Dag",
  worst_status: "Slechtste status",
  down_for: "Duur van de uitval",

  metrics: "Metingen",
  metrics_window: "De afgelopen 24 uur",
  metrics_none: "Er zijn geen metingen van de afgelopen 24 uur.",
  metrics_away: "De metingen kunnen nu niet worden getoond.",
  response_time: "Responstijd",
  error_rate: "Foutpercentage",
  average: "Gemiddeld {value}",
  highest: "Hoogste {value}",

  past: "Eerdere incidenten",
  no_past: "Er waren geen incidenten in de afgelopen {days} dagen.",
  history: "Geschiedenis",
  no_history: "Er waren geen incidenten.",
  older: "Ouder",
  newer: "Nieuwer",
  started_at: "Begin",
  resolved_at: "Opgelost",
  lasted: "Duur",
  updates: "Updates",

  follow: "Volgen",
  calendar: "Agenda",

  times_in: "Tijdzone: {zone}.",
  made_with: "Gemaakt met {product}",
  language: "Taal",
  choose_language: "Tonen",

  stale: "De actuele gegevens zijn niet bereikbaar. Wat u ziet, is van {time}.",
  preview: "Dit is een voorvertoning van een concept. Alleen mensen met deze link zien die.",

  password_title: "Voor deze pagina is een wachtwoord nodig",
  password: "Wachtwoord",
  password_hint: "Hint: {hint}",
  password_button: "Pagina tonen",
  password_wrong: "Het wachtwoord is onjuist.",
  password_wait: "Te veel pogingen. Probeer het over {seconds} s opnieuw.",

  not_found: "Deze pagina bestaat niet",
  not_found_text: "Misschien is het adres verkeerd getypt of is de pagina verwijderd.",
  unavailable: "Deze pagina kan nu niet worden getoond",
  unavailable_text: "Probeer het over enkele seconden opnieuw.",
  to_start: "Naar de startpagina",

  feed_incidents: "Incidenten en onderhoud op {page}",
  badge_label: "status",
};
