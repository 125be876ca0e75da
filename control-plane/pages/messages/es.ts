import type { PageMessages } from "./en.ts";

export const es: PageMessages = {
  title: "Estado de {page}",
  skip: "Ir al contenido",
  back: "Volver a {page}",

  all_operational: "Todos los servicios funcionan",
  maintenance_now: "Hay un mantenimiento en curso",
  some_degraded: "Algunos servicios no funcionan bien",
  some_partial_outage: "Algunos servicios están parcialmente caídos",
  some_major_outage: "Algunos servicios están caídos",
  no_services: "Aún no se muestran servicios aquí",

  operational: "Operativo",
  maintenance: "Mantenimiento",
  degraded: "Degradado",
  partial_outage: "Interrupción parcial",
  major_outage: "Interrupción grave",

  cancelled: "cancelado",

  announcement: "Aviso",
  open_incidents: "Incidentes abiertos",
  no_open_incidents: "No hay incidentes abiertos.",
  since: "inicio: {time}",
  affects: "Servicios afectados: {services}",
  more_updates: "Todas las actualizaciones",
  planned: "Mantenimientos programados",
  no_planned: "No hay mantenimientos programados.",
  services: "Servicios",

  uptime: "Disponibilidad",
  uptime_over: "{percent} en {days} días",
  uptime_since: "{percent} desde el {date}",
  uptime_unknown: "Sin medir todavía",
  no_data: "Sin datos",
  days_with_trouble: "Días con problemas",
  day: "Día",
  worst_status: "Peor estado",
  down_for: "Tiempo de interrupción",

  metrics: "Métricas",
  metrics_window: "Las últimas 24 horas",
  metrics_none: "No hay mediciones de las últimas 24 horas.",
  metrics_away: "Las mediciones no se pueden mostrar en este momento.",
  response_time: "Tiempo de respuesta",
  error_rate: "Tasa de errores",
  average: "Promedio {value}",
  highest: "Máximo {value}",

  past: "Incidentes anteriores",
  no_past: "No hubo incidentes en los últimos {days} días.",
  history: "Historial",
  no_history: "No hubo incidentes.",
  older: "Más antiguos",
  newer: "Más recientes",
  started_at: "Inicio",
  resolved_at: "Resuelto",
  lasted: "Duración",
  updates: "Actualizaciones",

  follow: "Seguir",
  calendar: "Calendario",

  times_in: "Zona horaria: {zone}.",
  made_with: "Hecho con {product}",
  language: "Idioma",
  choose_language: "Mostrar",

  stale: "No se puede acceder a los datos en directo. Última actualización: {time}.",
  preview: "Esta es la vista previa de un borrador. Solo la ven quienes tienen este enlace.",

  password_title: "Esta página requiere una contraseña",
  password: "Contraseña",
  password_hint: "Pista: {hint}",
  password_button: "Mostrar la página",
  password_wrong: "La contraseña no es correcta.",
  password_wait: "Demasiados intentos. Vuelva a intentarlo en {seconds} s.",

  not_found: "Esta página no existe",
  not_found_text: "Puede que la dirección esté mal escrita o que la página se haya eliminado.",
  unavailable: "Esta página no se puede mostrar en este momento",
  unavailable_text: "Vuelva a intentarlo en unos segundos.",
  to_start: "Ir a la página de inicio",

  feed_incidents: "Incidentes y mantenimientos de {page}",
  badge_label: "estado",
};
