import type { PageMessages } from "./en.ts";

export const fr: PageMessages = {
  title: "État de {page}",
  skip: "Aller au contenu",
  back: "Retour à {page}",

  all_operational: "Tous les services fonctionnent",
  maintenance_now: "Une maintenance est en cours",
  some_degraded: "Certains services fonctionnent mal",
  some_partial_outage: "Certains services sont partiellement en panne",
  some_major_outage: "Certains services sont en panne",
  no_services: "Aucun service n’est encore affiché ici",

  operational: "Opérationnel",
  maintenance: "Maintenance",
  degraded: "Dégradé",
  partial_outage: "Panne partielle",
  major_outage: "Panne majeure",

  cancelled: "annulée",

  announcement: "Annonce",
  open_incidents: "Incidents en cours",
  no_open_incidents: "Aucun incident en cours.",
  since: "début : {time}",
  affects: "Services touchés : {services}",
  more_updates: "Toutes les mises à jour",
  planned: "Maintenances planifiées",
  no_planned: "Aucune maintenance n’est planifiée.",
  services: "Services",

  uptime: "Disponibilité",
  uptime_over: "{percent} sur {days} jours",
  uptime_since: "{percent} depuis le {date}",
  uptime_unknown: "Pas encore mesurée",
  no_data: "Aucune donnée",
  days_with_trouble: "Jours perturbés",
  day: "Jour",
  worst_status: "Pire état",
  down_for: "Durée de la panne",

  metrics: "Mesures",
  metrics_window: "Les dernières 24 heures",
  metrics_none: "Il n’y a pas de mesures pour les dernières 24 heures.",
  metrics_away: "Les mesures ne peuvent pas être affichées pour le moment.",
  response_time: "Temps de réponse",
  error_rate: "Taux d’erreur",
  average: "Moyenne {value}",
  highest: "Maximum {value}",

  past: "Incidents passés",
  no_past: "Aucun incident au cours des {days} derniers jours.",
  history: "Historique",
  no_history: "Aucun incident.",
  older: "Plus anciens",
  newer: "Plus récents",
  started_at: "Début",
  resolved_at: "Résolu",
  lasted: "Durée",
  updates: "Mises à jour",

  follow: "Suivre",
  calendar: "Calendrier",

  times_in: "Fuseau horaire : {zone}.",
  made_with: "Réalisé avec {product}",
  language: "Langue",
  choose_language: "Afficher",

  stale: "Les données en direct sont inaccessibles. Dernière mise à jour : {time}.",
  preview: "Ceci est l’aperçu d’un brouillon. Seules les personnes qui ont ce lien le voient.",

  password_title: "Cette page est protégée par un mot de passe",
  password: "Mot de passe",
  password_hint: "Indice : {hint}",
  password_button: "Afficher la page",
  password_wrong: "Le mot de passe est incorrect.",
  password_wait: "Trop de tentatives. Veuillez réessayer dans {seconds} s.",

  not_found: "Cette page n’existe pas",
  not_found_text: "L’adresse est peut-être mal saisie, ou la page a été supprimée.",
  unavailable: "Cette page ne peut pas être affichée pour le moment",
  unavailable_text: "Veuillez réessayer dans quelques secondes.",
  to_start: "Aller à la page d’accueil",

  feed_incidents: "Incidents et maintenances de {page}",
  badge_label: "état",
};
