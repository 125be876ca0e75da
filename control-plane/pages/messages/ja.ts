import type { PageMessages } from "./en.ts";

export const ja: PageMessages = {
  title: "{page} のステータス",
  skip: "本文へ移動",
  back: "{page} に戻る",

  all_operational: "すべてのサービスが正常に稼働しています",
  maintenance_now: "メンテナンスを実施しています",
  some_degraded: "一部のサービスのパフォーマンスが低下しています",
  some_partial_outage: "一部のサービスが部分的に停止しています",
  some_major_outage: "一部のサービスが停止しています",
  no_services: "表示するサービスはまだありません",

  operational: "正常",
  maintenance: "メンテナンス",
  degraded: "パフォーマンス低下",
  partial_outage: "部分停止",
  major_outage: "重大な停止",

  cancelled: "中止",

  announcement: "お知らせ",
  open_incidents: "対応中の障害",
  no_open_incidents: "対応中の障害はありません。",
  since: "{time} から",
  affects: "影響を受けるサービス：{services}",
  more_updates: "すべての更新",
  planned: "メンテナンスの予定",
  no_planned: "メンテナンスの予定はありません。",
  services: "サービス",

  uptime: "稼働率",
  uptime_over: "{days} 日間で {percent}",
  uptime_since: "{date}以降 {percent}",
  uptime_unknown: "未計測",
  no_data: "データなし",
  days_with_trouble: "問題のあった日",
  day: "日付",
  worst_status: "最も悪いステータス",
  down_for: "停止時間",

  metrics: "メトリクス",
  metrics_window: "過去 24 時間",
  metrics_none: "過去 24 時間の計測値はありません。",
  metrics_away: "現在、計測値を表示できません。",
  response_time: "応答時間",
  error_rate: "エラー率",
  average: "平均 {value}",
  highest: "最大 {value}",

  past: "過去の障害",
  no_past: "過去 {days} 日間に障害はありませんでした。",
  history: "履歴",
  no_history: "障害はありませんでした。",
  older: "古い履歴",
  newer: "新しい履歴",
  started_at: "開始",
  resolved_at: "解決",
  lasted: "継続時間",
  updates: "更新",

  follow: "フォロー",
  calendar: "カレンダー",

  times_in: "時刻のタイムゾーンは {zone} です。",
  made_with: "{product} で作成",
  language: "言語",
  choose_language: "表示",

  stale: "最新のデータを取得できません。{time} 時点の情報を表示しています。",
  preview: "これは下書きのプレビューです。このリンクを知っている人だけが見られます。",

  password_title: "このページを見るにはパスワードが必要です",
  password: "パスワード",
  password_hint: "ヒント：{hint}",
  password_button: "ページを表示",
  password_wrong: "パスワードが正しくありません。",
  password_wait: "試行回数が多すぎます。{seconds} 秒後にもう一度お試しください。",

  not_found: "ページが見つかりません",
  not_found_text: "アドレスが間違っているか、ページが削除された可能性があります。",
  unavailable: "現在、このページを表示できません",
  unavailable_text: "数秒後にもう一度お試しください。",
  to_start: "トップページへ",

  feed_incidents: "{page} の障害とメンテナンス",
  badge_label: "ステータス",
};
