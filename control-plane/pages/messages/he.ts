import type { PageMessages } from "./en.ts";

/**
 * No message begins with what is filled in: a Latin name there would turn the line's direction where a reader takes it from the first
 * letter. A Hebrew word stands between a name and a number, or the number would be drawn on the wrong side of the name.
 */
export const he: PageMessages = {
  title: "הסטטוס של {page}",
  skip: "דילוג לתוכן",
  back: "חזרה אל {page}",

  all_operational: "כל השירותים פועלים",
  maintenance_now: "מתבצעת תחזוקה",
  some_degraded: "חלק מהשירותים אינם פועלים היטב",
  some_partial_outage: "חלק מהשירותים מושבתים חלקית",
  some_major_outage: "חלק מהשירותים מושבתים",
  no_services: "עדיין לא מוצגים כאן שירותים",

  operational: "תקין",
  maintenance: "תחזוקה",
  degraded: "תפקוד לקוי",
  partial_outage: "השבתה חלקית",
  major_outage: "השבתה חמורה",

  cancelled: "בוטלה",

  announcement: "הודעה",
  open_incidents: "תקלות פתוחות",
  no_open_incidents: "אין תקלות פתוחות.",
  since: "מאז {time}",
  affects: "שירותים מושפעים: {services}",
  more_updates: "כל העדכונים",
  planned: "תחזוקה מתוכננת",
  no_planned: "אין תחזוקה מתוכננת.",
  services: "שירותים",

  uptime: "זמינות",
  uptime_over: "במשך {days} ימים: {percent}",
  uptime_since: "מאז {date}: {percent}",
  uptime_unknown: "עדיין לא נמדדה",
  no_data: "אין נתונים",
  days_with_trouble: "ימים עם בעיות",
  day: "יום",
  worst_status: "הסטטוס החמור ביותר",
  down_for: "משך ההשבתה",

  metrics: "מדדים",
  metrics_window: "24 השעות האחרונות",
  metrics_none: "אין מדידות מ-24 השעות האחרונות.",
  metrics_away: "אי אפשר להציג את המדידות כרגע.",
  response_time: "זמן תגובה",
  error_rate: "שיעור שגיאות",
  average: "ממוצע {value}",
  highest: "מרבי {value}",

  past: "תקלות קודמות",
  no_past: "לא היו תקלות ב-{days} הימים האחרונים.",
  history: "היסטוריה",
  no_history: "לא היו תקלות.",
  older: "ישנות יותר",
  newer: "חדשות יותר",
  started_at: "התחלה",
  resolved_at: "פתרון",
  lasted: "משך",
  updates: "עדכונים",

  follow: "קבלת עדכונים",
  calendar: "יומן",

  times_in: "אזור זמן: {zone}.",
  made_with: "נוצר באמצעות {product}",
  language: "שפה",
  choose_language: "הצגה",

  stale: "אי אפשר להגיע לנתונים העדכניים. המידע המוצג נכון ל-{time}.",
  preview: "זוהי תצוגה מקדימה של טיוטה. רק מי שהקישור הזה בידיו רואה אותה.",

  password_title: "לדף הזה נדרשת סיסמה",
  password: "סיסמה",
  password_hint: "רמז: {hint}",
  password_button: "הצגת הדף",
  password_wrong: "הסיסמה שגויה.",
  password_wait: "יותר מדי ניסיונות. אפשר לנסות שוב בעוד {seconds} שנ׳.",

  not_found: "אין דף כזה",
  not_found_text: "ייתכן שהכתובת הוקלדה באופן שגוי או שהדף הוסר.",
  unavailable: "אי אפשר להציג את הדף הזה כרגע",
  unavailable_text: "אפשר לנסות שוב בעוד כמה שניות.",
  to_start: "לדף הפתיחה",

  feed_incidents: "תקלות ותחזוקה ב-{page}",
  badge_label: "סטטוס",
};
