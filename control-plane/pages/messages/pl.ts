import type { PageMessages } from "./en.ts";

export const pl: PageMessages = {
  title: "{page} – stan usług",
  skip: "Przejdź do treści",
  back: "Wróć do {page}",

  all_operational: "Wszystkie usługi działają",
  maintenance_now: "Trwają prace konserwacyjne",
  some_degraded: "Niektóre usługi nie działają dobrze",
  some_partial_outage: "Niektóre usługi częściowo nie działają",
  some_major_outage: "Niektóre usługi nie działają",
  no_services: "Nie ma tu jeszcze żadnych usług",

  operational: "Działa",
  maintenance: "Prace konserwacyjne",
  degraded: "Pogorszone działanie",
  partial_outage: "Częściowa awaria",
  major_outage: "Poważna awaria",

  cancelled: "odwołane",

  announcement: "Ogłoszenie",
  open_incidents: "Otwarte incydenty",
  no_open_incidents: "Brak otwartych incydentów.",
  since: "od {time}",
  affects: "Dotyczy usług: {services}",
  more_updates: "Wszystkie aktualizacje",
  planned: "Zaplanowane prace konserwacyjne",
  no_planned: "Brak zaplanowanych prac konserwacyjnych.",
  services: "Usługi",

  uptime: "Dostępność",
  uptime_over: "{percent} w ciągu {days} dni",
  uptime_since: "{percent} od {date}",
  uptime_unknown: "Jeszcze nie zmierzono",
  no_data: "Brak danych",
  days_with_trouble: "Dni z problemami",
  day: "Dzień",
  worst_status: "Najgorszy stan",
  down_for: "Czas niedostępności",

  metrics: "Metryki",
  metrics_window: "Ostatnie 24 godziny",
  metrics_none: "Brak pomiarów z ostatnich 24 godzin.",
  metrics_away: "Nie można teraz wyświetlić pomiarów.",
  response_time: "Czas odpowiedzi",
  error_rate: "Odsetek błędów",
  average: "Średnia {value}",
  highest: "Maksimum {value}",

  past: "Wcześniejsze incydenty",
  no_past: "W ciągu ostatnich {days} dni nie było incydentów.",
  history: "Historia",
  no_history: "Nie było incydentów.",
  older: "Starsze",
  newer: "Nowsze",
  started_at: "Początek",
  resolved_at: "Rozwiązano",
  lasted: "Czas trwania",
  updates: "Aktualizacje",

  follow: "Śledź",
  calendar: "Kalendarz",

  times_in: "Strefa czasowa: {zone}.",
  made_with: "Utworzono za pomocą {product}",
  language: "Język",
  choose_language: "Pokaż",

  stale: "Bieżące dane są niedostępne. Wyświetlany jest stan na {time}.",
  preview: "To jest podgląd wersji roboczej. Widzą go tylko osoby z tym linkiem.",

  password_title: "Ta strona wymaga hasła",
  password: "Hasło",
  password_hint: "Podpowiedź: {hint}",
  password_button: "Pokaż stronę",
  password_wrong: "Hasło jest nieprawidłowe.",
  password_wait: "Zbyt wiele prób. Spróbuj ponownie za {seconds} s.",

  not_found: "Nie ma takiej strony",
  not_found_text: "Adres może być błędny albo strona została usunięta.",
  unavailable: "Nie można teraz wyświetlić tej strony",
  unavailable_text: "Spróbuj ponownie za kilka sekund.",
  to_start: "Do strony głównej",

  feed_incidents: "Incydenty i prace konserwacyjne na {page}",
  badge_label: "stan",
};
