import type { PageMessages } from "./en.ts";

/**
 * No message begins with what is filled in: a Latin name there would turn the line's direction where a reader takes it from the first
 * letter. An Arabic word stands between a name and a number, or the number would be drawn on the wrong side of the name.
 */
export const ar: PageMessages = {
  title: "حالة {page}",
  skip: "الانتقال إلى المحتوى",
  back: "العودة إلى {page}",

  all_operational: "جميع الخدمات تعمل",
  maintenance_now: "أعمال الصيانة جارية",
  some_degraded: "بعض الخدمات لا تعمل جيدًا",
  some_partial_outage: "بعض الخدمات متوقفة جزئيًا",
  some_major_outage: "بعض الخدمات متوقفة",
  no_services: "لا توجد خدمات معروضة هنا بعد",

  operational: "تعمل",
  maintenance: "صيانة",
  degraded: "أداء منخفض",
  partial_outage: "انقطاع جزئي",
  major_outage: "انقطاع كبير",

  cancelled: "ملغاة",

  announcement: "إعلان",
  open_incidents: "الأعطال الحالية",
  no_open_incidents: "لا توجد أعطال حالية.",
  since: "منذ {time}",
  affects: "الخدمات المتأثرة: {services}",
  more_updates: "جميع التحديثات",
  planned: "أعمال الصيانة المجدولة",
  no_planned: "لا توجد أعمال صيانة مجدولة.",
  services: "الخدمات",

  uptime: "نسبة التوفر",
  uptime_over: "خلال {days} يومًا: {percent}",
  uptime_since: "منذ {date}: {percent}",
  uptime_unknown: "لم تُقَس بعد",
  no_data: "لا توجد بيانات",
  days_with_trouble: "أيام حدثت فيها مشكلات",
  day: "اليوم",
  worst_status: "أسوأ حالة",
  down_for: "مدة الانقطاع",

  metrics: "القياسات",
  metrics_window: "آخر 24 ساعة",
  metrics_none: "لا توجد قياسات لآخر 24 ساعة.",
  metrics_away: "لا يمكن عرض القياسات حاليًا.",
  response_time: "زمن الاستجابة",
  error_rate: "معدل الأخطاء",
  average: "المتوسط {value}",
  highest: "الأعلى {value}",

  past: "الأعطال السابقة",
  no_past: "لم تحدث أعطال خلال آخر {days} يومًا.",
  history: "السجل",
  no_history: "لم تحدث أعطال.",
  older: "الأقدم",
  newer: "الأحدث",
  started_at: "البداية",
  resolved_at: "وقت الحل",
  lasted: "المدة",
  updates: "التحديثات",

  follow: "المتابعة",
  calendar: "التقويم",

  times_in: "المنطقة الزمنية: {zone}.",
  made_with: "أُنشئت باستخدام {product}",
  language: "اللغة",
  choose_language: "عرض",

  stale: "يتعذر الوصول إلى البيانات المباشرة. تعود البيانات المعروضة إلى {time}.",
  preview: "هذه معاينة لمسودة. لا يراها إلا من لديه هذا الرابط.",

  password_title: "هذه الصفحة محمية بكلمة مرور",
  password: "كلمة المرور",
  password_hint: "تلميح: {hint}",
  password_button: "عرض الصفحة",
  password_wrong: "كلمة المرور غير صحيحة.",
  password_wait: "محاولات كثيرة جدًا. يُرجى المحاولة مرة أخرى بعد {seconds} ث.",

  not_found: "هذه الصفحة غير موجودة",
  not_found_text: "ربما كُتب العنوان بشكل خاطئ أو أُزيلت الصفحة.",
  unavailable: "لا يمكن عرض هذه الصفحة حاليًا",
  unavailable_text: "يُرجى المحاولة مرة أخرى بعد بضع ثوانٍ.",
  to_start: "إلى صفحة البداية",

  feed_incidents: "الأعطال وأعمال الصيانة في {page}",
  badge_label: "الحالة",
};
