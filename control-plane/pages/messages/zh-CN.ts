import type { PageMessages } from "./en.ts";

export const zhCn: PageMessages = {
  title: "{page} 状态",
  skip: "跳到正文",
  back: "返回 {page}",

  all_operational: "所有服务运行正常",
  maintenance_now: "维护正在进行",
  some_degraded: "部分服务运行不佳",
  some_partial_outage: "部分服务出现局部中断",
  some_major_outage: "部分服务已中断",
  no_services: "此处尚未显示任何服务",

  operational: "正常",
  maintenance: "维护",
  degraded: "性能下降",
  partial_outage: "部分中断",
  major_outage: "严重中断",

  cancelled: "已取消",

  announcement: "公告",
  open_incidents: "未解决的故障",
  no_open_incidents: "没有未解决的故障。",
  since: "自 {time} 起",
  affects: "受影响的服务：{services}",
  more_updates: "全部更新",
  planned: "计划维护",
  no_planned: "没有计划的维护。",
  services: "服务",

  uptime: "可用率",
  uptime_over: "{days} 天内 {percent}",
  uptime_since: "自 {date} 起 {percent}",
  uptime_unknown: "尚未测量",
  no_data: "无数据",
  days_with_trouble: "出现问题的日期",
  day: "日期",
  worst_status: "最差状态",
  down_for: "中断时长",

  metrics: "指标",
  metrics_window: "最近 24 小时",
  metrics_none: "最近 24 小时没有测量数据。",
  metrics_away: "目前无法显示测量数据。",
  response_time: "响应时间",
  error_rate: "错误率",
  average: "平均 {value}",
  highest: "最高 {value}",

  past: "以往故障",
  no_past: "最近 {days} 天没有故障。",
  history: "历史记录",
  no_history: "没有故障。",
  older: "较早",
  newer: "较新",
  started_at: "开始时间",
  resolved_at: "解决时间",
  lasted: "持续时间",
  updates: "更新",

  follow: "关注",
  calendar: "日历",

  times_in: "时区：{zone}。",
  made_with: "由 {product} 制作",
  language: "语言",
  choose_language: "显示",

  stale: "无法获取实时数据。您看到的是 {time} 的数据。",
  preview: "这是草稿的预览。只有拥有此链接的人才能看到。",

  password_title: "此页面需要密码",
  password: "密码",
  password_hint: "提示：{hint}",
  password_button: "显示页面",
  password_wrong: "密码不正确。",
  password_wait: "尝试次数过多。请在 {seconds} 秒后重试。",

  not_found: "没有此页面",
  not_found_text: "地址可能有误，或页面已被移除。",
  unavailable: "目前无法显示此页面",
  unavailable_text: "请在几秒钟后重试。",
  to_start: "前往首页",

  feed_incidents: "{page} 的故障和维护",
  badge_label: "状态",
};
