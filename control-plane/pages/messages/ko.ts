import type { PageMessages } from "./en.ts";

export const ko: PageMessages = {
  title: "{page} 상태",
  skip: "본문으로 이동",
  back: "{page}(으)로 돌아가기",

  all_operational: "모든 서비스가 정상입니다",
  maintenance_now: "점검이 진행 중입니다",
  some_degraded: "일부 서비스가 원활하지 않습니다",
  some_partial_outage: "일부 서비스가 부분적으로 중단되었습니다",
  some_major_outage: "일부 서비스가 중단되었습니다",
  no_services: "아직 표시할 서비스가 없습니다",

  operational: "정상",
  maintenance: "점검",
  degraded: "성능 저하",
  partial_outage: "부분 중단",
  major_outage: "심각한 중단",

  cancelled: "취소됨",

  announcement: "공지",
  open_incidents: "진행 중인 장애",
  no_open_incidents: "진행 중인 장애가 없습니다.",
  since: "{time}부터",
  affects: "영향받는 서비스: {services}",
  more_updates: "전체 업데이트",
  planned: "예정된 점검",
  no_planned: "예정된 점검이 없습니다.",
  services: "서비스",

  uptime: "가동률",
  uptime_over: "{days}일 동안 {percent}",
  uptime_since: "{date} 이후 {percent}",
  uptime_unknown: "아직 측정되지 않음",
  no_data: "데이터 없음",
  days_with_trouble: "문제가 있었던 날",
  day: "날짜",
  worst_status: "최악의 상태",
  down_for: "중단 시간",

  metrics: "지표",
  metrics_window: "최근 24시간",
  metrics_none: "최근 24시간의 측정값이 없습니다.",
  metrics_away: "지금은 측정값을 표시할 수 없습니다.",
  response_time: "응답 시간",
  error_rate: "오류율",
  average: "평균 {value}",
  highest: "최고 {value}",

  past: "지난 장애",
  no_past: "최근 {days}일 동안 장애가 없었습니다.",
  history: "기록",
  no_history: "장애가 없었습니다.",
  older: "이전 기록",
  newer: "다음 기록",
  started_at: "시작",
  resolved_at: "해결",
  lasted: "지속 시간",
  updates: "업데이트",

  follow: "소식 받기",
  calendar: "캘린더",

  times_in: "시간대: {zone}.",
  made_with: "{product} 제공",
  language: "언어",
  choose_language: "보기",

  stale: "실시간 데이터를 가져올 수 없습니다. {time} 기준 정보입니다.",
  preview: "초안 미리보기입니다. 이 링크가 있는 사람만 볼 수 있습니다.",

  password_title: "비밀번호가 필요한 페이지입니다",
  password: "비밀번호",
  password_hint: "힌트: {hint}",
  password_button: "페이지 보기",
  password_wrong: "비밀번호가 올바르지 않습니다.",
  password_wait: "시도 횟수가 너무 많습니다. {seconds}초 후에 다시 시도해 주세요.",

  not_found: "페이지를 찾을 수 없습니다",
  not_found_text: "주소가 잘못되었거나 페이지가 삭제되었을 수 있습니다.",
  unavailable: "지금은 이 페이지를 표시할 수 없습니다",
  unavailable_text: "몇 초 후에 다시 시도해 주세요.",
  to_start: "시작 페이지로 이동",

  feed_incidents: "{page}의 장애와 점검",
  badge_label: "상태",
};
