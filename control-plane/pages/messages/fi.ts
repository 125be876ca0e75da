import type { PageMessages } from "./en.ts";

export const fi: PageMessages = {
  title: "{page} – palvelujen tila",
  skip: "Siirry sisältöön",
  back: "Takaisin sivulle {page}",

  all_operational: "Kaikki palvelut toimivat",
  maintenance_now: "Huolto on käynnissä",
  some_degraded: "Osa palveluista toimii heikosti",
  some_partial_outage: "Osa palveluista on osittain poissa käytöstä",
  some_major_outage: "Osa palveluista on poissa käytöstä",
  no_services: "Tässä ei vielä näytetä palveluja",

  operational: "Toiminnassa",
  maintenance: "Huolto",
  degraded: "Heikentynyt",
  partial_outage: "Osittainen katkos",
  major_outage: "Vakava katkos",

  cancelled: "peruttu",

  announcement: "Tiedote",
  open_incidents: "Avoimet häiriöt",
  no_open_incidents: "Avoimia häiriöitä ei ole.",
  since: "{time} alkaen",
  affects: "Vaikuttaa palveluihin: {services}",
  more_updates: "Kaikki päivitykset",
  planned: "Suunnitellut huollot",
  no_planned: "Huoltoja ei ole suunnitteilla.",
  services: "Palvelut",

  uptime: "Saatavuus",
  uptime_over: "{percent}, {days} päivän ajalta",
  uptime_since: "{percent} alkaen {date}",
  uptime_unknown: "Ei vielä mitattu",
  no_data: "Ei tietoja",
  days_with_trouble: "Päivät, joina oli ongelmia",
  day: "Päivä",
  worst_status: "Huonoin tila",
  down_for: "Katkoksen kesto",

  metrics: "Mittaukset",
  metrics_window: "Viimeiset 24 tuntia",
  metrics_none: "Viimeisten 24 tunnin ajalta ei ole mittauksia.",
  metrics_away: "Mittauksia ei voi juuri nyt näyttää.",
  response_time: "Vasteaika",
  error_rate: "Virheprosentti",
  average: "Keskiarvo {value}",
  highest: "Korkein {value}",

  past: "Aiemmat häiriöt",
  no_past: "Viimeisten {days} päivän aikana ei ollut häiriöitä.",
  history: "Historia",
  no_history: "Häiriöitä ei ollut.",
  older: "Vanhemmat",
  newer: "Uudemmat",
  started_at: "Alkoi",
  resolved_at: "Ratkaistu",
  lasted: "Kesto",
  updates: "Päivitykset",

  follow: "Seuraa",
  calendar: "Kalenteri",

  times_in: "Aikavyöhyke: {zone}.",
  made_with: "Tehty palvelulla {product}",
  language: "Kieli",
  choose_language: "Näytä",

  stale: "Ajantasaisia tietoja ei saada. Näytetyt tiedot: {time}.",
  preview: "Tämä on luonnoksen esikatselu. Vain ne, joilla on tämä linkki, näkevät sen.",

  password_title: "Tämä sivu vaatii salasanan",
  password: "Salasana",
  password_hint: "Vihje: {hint}",
  password_button: "Näytä sivu",
  password_wrong: "Salasana on väärä.",
  password_wait: "Liian monta yritystä. Yritä uudelleen {seconds} s kuluttua.",

  not_found: "Sivua ei ole",
  not_found_text: "Osoite on ehkä kirjoitettu väärin tai sivu on poistettu.",
  unavailable: "Sivua ei voi juuri nyt näyttää",
  unavailable_text: "Yritä uudelleen muutaman sekunnin kuluttua.",
  to_start: "Etusivulle",

  feed_incidents: "Sivun {page} häiriöt ja huollot",
  badge_label: "tila",
};
