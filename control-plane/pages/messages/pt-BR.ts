import type { PageMessages } from "./en.ts";

export const ptBr: PageMessages = {
  title: "Status de {page}",
  skip: "Ir para o conteúdo",
  back: "Voltar para {page}",

  all_operational: "Todos os serviços estão funcionando",
  maintenance_now: "Há uma manutenção em andamento",
  some_degraded: "Alguns serviços não estão funcionando bem",
  some_partial_outage: "Alguns serviços estão parcialmente fora do ar",
  some_major_outage: "Alguns serviços estão fora do ar",
  no_services: "Nenhum serviço é mostrado aqui ainda",

  operational: "Operacional",
  maintenance: "Manutenção",
  degraded: "Degradado",
  partial_outage: "Interrupção parcial",
  major_outage: "Interrupção grave",

  cancelled: "cancelada",

  announcement: "Aviso",
  open_incidents: "Incidentes abertos",
  no_open_incidents: "Não há incidentes abertos.",
  since: "desde {time}",
  affects: "Serviços afetados: {services}",
  more_updates: "Todas as atualizações",
  planned: "Manutenções agendadas",
  no_planned: "Não há manutenções agendadas.",
  services: "Serviços",

  uptime: "Disponibilidade",
  uptime_over: "{percent} em {days} dias",
  uptime_since: "{percent} desde {date}",
  uptime_unknown: "Ainda não medida",
  no_data: "Sem dados",
  days_with_trouble: "Dias com problemas",
  day: "Dia",
  worst_status: "Pior status",
  down_for: "Tempo fora do ar",

  metrics: "Métricas",
  metrics_window: "As últimas 24 horas",
  metrics_none: "Não há medições das últimas 24 horas.",
  metrics_away: "As medições não podem ser mostradas no momento.",
  response_time: "Tempo de resposta",
  error_rate: "Taxa de erros",
  average: "Média {value}",
  highest: "Máximo {value}",

  past: "Incidentes anteriores",
  no_past: "Não houve incidentes nos últimos {days} dias.",
  history: "Histórico",
  no_history: "Não houve incidentes.",
  older: "Mais antigos",
  newer: "Mais recentes",
  started_at: "Início",
  resolved_at: "Resolvido",
  lasted: "Duração",
  updates: "Atualizações",

  follow: "Acompanhar",
  calendar: "Calendário",

  times_in: "Fuso horário: {zone}.",
  made_with: "Feito com {product}",
  language: "Idioma",
  choose_language: "Mostrar",

  stale: "Não é possível acessar os dados ao vivo. O que você vê é de {time}.",
  preview: "Esta é a prévia de um rascunho. Só quem tem este link pode vê-la.",

  password_title: "Esta página exige uma senha",
  password: "Senha",
  password_hint: "Dica: {hint}",
  password_button: "Mostrar a página",
  password_wrong: "A senha está incorreta.",
  password_wait: "Muitas tentativas. Tente novamente em {seconds} s.",

  not_found: "Esta página não existe",
  not_found_text: "O endereço pode estar incorreto ou a página foi removida.",
  unavailable: "Esta página não pode ser mostrada no momento",
  unavailable_text: "Tente novamente em alguns segundos.",
  to_start: "Ir para a página inicial",

  feed_incidents: "Incidentes e manutenções de {page}",
  badge_label: "status",
};
