import type { PageMessages } from "./en.ts";

export const de: PageMessages = {
  title: "Status von {page}",
  skip: "Zum Inhalt springen",
  back: "Zurück zu {page}",

  all_operational: "Alle Dienste funktionieren",
  maintenance_now: "Eine Wartung läuft",
  some_degraded: "Einige Dienste sind beeinträchtigt",
  some_partial_outage: "Einige Dienste sind teilweise ausgefallen",
  some_major_outage: "Einige Dienste sind ausgefallen",
  no_services: "Hier werden noch keine Dienste angezeigt",

  operational: "In Betrieb",
  maintenance: "Wartung",
  degraded: "Beeinträchtigt",
  partial_outage: "Teilausfall",
  major_outage: "Schwerer Ausfall",

  cancelled: "abgesagt",

  announcement: "Mitteilung",
  open_incidents: "Offene Vorfälle",
  no_open_incidents: "Es gibt keine offenen Vorfälle.",
  since: "seit {time}",
  affects: "Betrifft {services}",
  more_updates: "Alle Meldungen",
  planned: "Geplante Wartungen",
  no_planned: "Es sind keine Wartungen geplant.",
  services: "Dienste",

  uptime: "Verfügbarkeit",
  uptime_over: "{percent} in {days} Tagen",
  uptime_since: "{percent} seit {date}",
  uptime_unknown: "Noch nicht gemessen",
  no_data: "Keine Daten",
  days_with_trouble: "Tage mit Störungen",
  day: "Tag",
  worst_status: "Schlechtester Status",
  down_for: "Ausfallzeit",

  metrics: "Messwerte",
  metrics_window: "Die letzten 24 Stunden",
  metrics_none: "Aus den letzten 24 Stunden gibt es keine Messwerte.",
  metrics_away: "Die Messwerte können gerade nicht angezeigt werden.",
  response_time: "Antwortzeit",
  error_rate: "Fehlerrate",
  average: "Durchschnitt {value}",
  highest: "Höchstwert {value}",

  past: "Vergangene Vorfälle",
  no_past: "In den letzten {days} Tagen gab es keine Vorfälle.",
  history: "Verlauf",
  no_history: "Es gab keine Vorfälle.",
  older: "Ältere",
  newer: "Neuere",
  started_at: "Beginn",
  resolved_at: "Behoben",
  lasted: "Dauer",
  updates: "Meldungen",

  follow: "Folgen",
  calendar: "Kalender",

  times_in: "Zeitangaben in der Zeitzone {zone}.",
  made_with: "Erstellt mit {product}",
  language: "Sprache",
  choose_language: "Anzeigen",

  stale: "Die aktuellen Daten sind nicht erreichbar. Angezeigter Stand: {time}.",
  preview: "Dies ist die Vorschau eines Entwurfs. Nur wer diesen Link hat, sieht sie.",

  password_title: "Diese Seite ist passwortgeschützt",
  password: "Passwort",
  password_hint: "Hinweis: {hint}",
  password_button: "Seite anzeigen",
  password_wrong: "Das Passwort ist falsch.",
  password_wait: "Zu viele Versuche. Bitte versuchen Sie es in {seconds} s erneut.",

  not_found: "Diese Seite gibt es nicht",
  not_found_text: "Vielleicht ist die Adresse falsch geschrieben oder die Seite wurde entfernt.",
  unavailable: "Diese Seite kann gerade nicht angezeigt werden",
  unavailable_text: "Bitte versuchen Sie es in einigen Sekunden erneut.",
  to_start: "Zur Startseite",

  feed_incidents: "Vorfälle und Wartungen auf {page}",
  badge_label: "Status",
};
