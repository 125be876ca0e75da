/**
 * What a status page says by itself, in English. Names in braces stand for what is filled in; each language has its own file with the same
 * keys and the same names.
 */
export const en = {
  title: "{page} status",
  skip: "Skip to the content",
  back: "Back to {page}",

  all_operational: "All services are working",
  maintenance_now: "Maintenance is in progress",
  some_degraded: "Some services are not working well",
  some_partial_outage: "Some services are partly down",
  some_major_outage: "Some services are down",
  no_services: "No services are shown here yet",

  operational: "Operational",
  maintenance: "Maintenance",
  degraded: "Degraded",
  partial_outage: "Partial outage",
  major_outage: "Major outage",

  cancelled: "cancelled",

  announcement: "Announcement",
  open_incidents: "Open incidents",
  no_open_incidents: "No incident is open.",
  since: "since {time}",
  affects: "Affects {services}",
  more_updates: "All updates",
  planned: "Planned maintenance",
  no_planned: "No maintenance is planned.",
  services: "Services",

  uptime: "Uptime",
  uptime_over: "{percent} over {days} days",
  uptime_since: "{percent} since {date}",
  uptime_unknown: "Not measured yet",
  no_data: "No data",
  days_with_trouble: "Days with trouble",
  day: "Day",
  worst_status: "Worst status",
  down_for: "Down for",

  metrics: "Metrics",
  metrics_window: "The last 24 hours",
  metrics_none: "There are no measurements of the last 24 hours.",
  metrics_away: "The measurements cannot be shown right now.",
  response_time: "Response time",
  error_rate: "Error rate",
  average: "Average {value}",
  highest: "Highest {value}",

  past: "Past incidents",
  no_past: "There was no incident in the last {days} days.",
  history: "History",
  no_history: "There was no incident.",
  older: "Older",
  newer: "Newer",
  started_at: "Started",
  resolved_at: "Resolved",
  lasted: "Lasted",
  updates: "Updates",

  follow: "Follow",
  calendar: "Calendar",

  times_in: "Times are in {zone}.",
  made_with: "Made with {product}",
  language: "Language",
  choose_language: "Show",

  stale: "The live data cannot be reached. What you see is from {time}.",
  preview: "This is a preview of a draft. Only people with this link see it.",

  password_title: "This page needs a password",
  password: "Password",
  password_hint: "Hint: {hint}",
  password_button: "Show the page",
  password_wrong: "This is not the password.",
  password_wait: "Too many attempts. Please try again in {seconds} s.",

  not_found: "There is no such page",
  not_found_text: "The address may be mistyped, or the page was removed.",
  unavailable: "This page cannot be shown right now",
  unavailable_text: "Please try again in a few seconds.",
  to_start: "To the start page",

  feed_incidents: "Incidents and maintenance of {page}",
  badge_label: "status",
};

export type PageMessages = Record<keyof typeof en, string>;
