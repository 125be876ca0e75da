import type { PageMessages } from "./en.ts";

export const hi: PageMessages = {
  title: "{page} की स्थिति",
  skip: "सामग्री पर जाएँ",
  back: "{page} पर वापस जाएँ",

  all_operational: "सभी सेवाएँ काम कर रही हैं",
  maintenance_now: "रखरखाव जारी है",
  some_degraded: "कुछ सेवाएँ ठीक से काम नहीं कर रही हैं",
  some_partial_outage: "कुछ सेवाएँ आंशिक रूप से बंद हैं",
  some_major_outage: "कुछ सेवाएँ बंद हैं",
  no_services: "यहाँ अभी कोई सेवा नहीं दिखाई गई है",

  operational: "चालू",
  maintenance: "रखरखाव",
  degraded: "कमज़ोर प्रदर्शन",
  partial_outage: "आंशिक रुकावट",
  major_outage: "गंभीर रुकावट",

  cancelled: "रद्द",

  announcement: "घोषणा",
  open_incidents: "जारी घटनाएँ",
  no_open_incidents: "कोई घटना जारी नहीं है।",
  since: "{time} से",
  affects: "प्रभावित सेवाएँ: {services}",
  more_updates: "सभी अपडेट",
  planned: "निर्धारित रखरखाव",
  no_planned: "कोई रखरखाव निर्धारित नहीं है।",
  services: "सेवाएँ",

  uptime: "अपटाइम",
  uptime_over: "{days} दिनों में {percent}",
  uptime_since: "{date} से {percent}",
  uptime_unknown: "अभी मापा नहीं गया",
  no_data: "कोई डेटा नहीं",
  days_with_trouble: "समस्या वाले दिन",
  day: "दिन",
  worst_status: "सबसे खराब स्थिति",
  down_for: "रुकावट की अवधि",

  metrics: "मेट्रिक्स",
  metrics_window: "पिछले 24 घंटे",
  metrics_none: "पिछले 24 घंटों का कोई माप उपलब्ध नहीं है।",
  metrics_away: "माप अभी नहीं दिखाए जा सकते।",
  response_time: "प्रतिक्रिया समय",
  error_rate: "त्रुटि दर",
  average: "औसत {value}",
  highest: "अधिकतम {value}",

  past: "पिछली घटनाएँ",
  no_past: "पिछले {days} दिनों में कोई घटना नहीं हुई।",
  history: "इतिहास",
  no_history: "कोई घटना नहीं हुई।",
  older: "पुरानी",
  newer: "नई",
  started_at: "शुरुआत",
  resolved_at: "समाधान",
  lasted: "अवधि",
  updates: "अपडेट",

  follow: "फ़ॉलो करें",
  calendar: "कैलेंडर",

  times_in: "समय क्षेत्र: {zone}।",
  made_with: "{product} से बनाया गया",
  language: "भाषा",
  choose_language: "दिखाएँ",

  stale: "ताज़ा डेटा तक पहुँचा नहीं जा सका। दिखाई गई जानकारी {time} की है।",
  preview: "यह एक मसौदे का पूर्वावलोकन है। इसे केवल वही देख सकते हैं जिनके पास यह लिंक है।",

  password_title: "इस पृष्ठ के लिए पासवर्ड ज़रूरी है",
  password: "पासवर्ड",
  password_hint: "संकेत: {hint}",
  password_button: "पृष्ठ दिखाएँ",
  password_wrong: "पासवर्ड सही नहीं है।",
  password_wait: "बहुत अधिक प्रयास हुए। कृपया {seconds} सेकंड बाद फिर कोशिश करें।",

  not_found: "ऐसा कोई पृष्ठ नहीं है",
  not_found_text: "हो सकता है कि पता गलत लिखा गया हो या पृष्ठ हटा दिया गया हो।",
  unavailable: "यह पृष्ठ अभी नहीं दिखाया जा सकता",
  unavailable_text: "कृपया कुछ सेकंड बाद फिर कोशिश करें।",
  to_start: "आरंभ पृष्ठ पर जाएँ",

  feed_incidents: "{page} की घटनाएँ और रखरखाव",
  badge_label: "स्थिति",
};
