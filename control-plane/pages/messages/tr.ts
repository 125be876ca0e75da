import type { PageMessages } from "./en.ts";

export const tr: PageMessages = {
  title: "{page} durumu",
  skip: "İçeriğe geç",
  back: "{page} sayfasına dön",

  all_operational: "Tüm hizmetler çalışıyor",
  maintenance_now: "Bakım sürüyor",
  some_degraded: "Bazı hizmetler iyi çalışmıyor",
  some_partial_outage: "Bazı hizmetler kısmen çalışmıyor",
  some_major_outage: "Bazı hizmetler çalışmıyor",
  no_services: "Burada henüz hizmet gösterilmiyor",

  operational: "Çalışıyor",
  maintenance: "Bakım",
  degraded: "Aksıyor",
  partial_outage: "Kısmi kesinti",
  major_outage: "Ciddi kesinti",

  cancelled: "iptal edildi",

  announcement: "Duyuru",
  open_incidents: "Açık olaylar",
  no_open_incidents: "Açık olay yok.",
  since: "başlangıç: {time}",
  affects: "Etkilenen hizmetler: {services}",
  more_updates: "Tüm güncellemeler",
  planned: "Planlı bakım",
  no_planned: "Planlanmış bakım yok.",
  services: "Hizmetler",

  uptime: "Çalışma süresi",
  uptime_over: "{days} günde {percent}",
  uptime_since: "{date} tarihinden beri {percent}",
  uptime_unknown: "Henüz ölçülmedi",
  no_data: "Veri yok",
  days_with_trouble: "Sorun yaşanan günler",
  day: "Gün",
  worst_status: "En kötü durum",
  down_for: "Kesinti süresi",

  metrics: "Ölçümler",
  metrics_window: "Son 24 saat",
  metrics_none: "Son 24 saate ait ölçüm yok.",
  metrics_away: "Ölçümler şu anda gösterilemiyor.",
  response_time: "Yanıt süresi",
  error_rate: "Hata oranı",
  average: "Ortalama {value}",
  highest: "En yüksek {value}",

  past: "Geçmiş olaylar",
  no_past: "Son {days} günde olay yaşanmadı.",
  history: "Geçmiş",
  no_history: "Olay yaşanmadı.",
  older: "Daha eski",
  newer: "Daha yeni",
  started_at: "Başlangıç",
  resolved_at: "Çözüldü",
  lasted: "Süre",
  updates: "Güncellemeler",

  follow: "Takip et",
  calendar: "Takvim",

  times_in: "Saat dilimi: {zone}.",
  made_with: "{product} ile hazırlandı",
  language: "Dil",
  choose_language: "Göster",

  stale: "Canlı verilere ulaşılamıyor. Gösterilen bilgilerin zamanı: {time}.",
  preview: "Bu, bir taslağın önizlemesidir. Yalnızca bu bağlantıya sahip olanlar görür.",

  password_title: "Bu sayfa için parola gerekiyor",
  password: "Parola",
  password_hint: "İpucu: {hint}",
  password_button: "Sayfayı göster",
  password_wrong: "Parola yanlış.",
  password_wait: "Çok fazla deneme yapıldı. Lütfen {seconds} sn sonra tekrar deneyin.",

  not_found: "Böyle bir sayfa yok",
  not_found_text: "Adres yanlış yazılmış veya sayfa kaldırılmış olabilir.",
  unavailable: "Bu sayfa şu anda gösterilemiyor",
  unavailable_text: "Lütfen birkaç saniye sonra tekrar deneyin.",
  to_start: "Ana sayfaya git",

  feed_incidents: "{page} sayfasındaki olaylar ve bakımlar",
  badge_label: "durum",
};
