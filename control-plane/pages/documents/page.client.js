// Runs in the visitor's browser; the page is whole without it. Writes moments in the visitor's time zone, and keeps what is told up to date.
(() => {
  const { documentElement: root } = document;
  // In the page's language, but as the visitor's country writes it.
  const own = navigator.languages.find((each) => each.split("-")[0] === root.lang.split("-")[0]) ?? root.lang;
  const format = new Intl.DateTimeFormat(own, { dateStyle: "medium", timeStyle: "short" });
  const localise = (part) => {
    for (const time of part.querySelectorAll("time[data-at]")) {
      const from = new Date(time.dateTime);
      time.textContent = time.dataset.to ? format.formatRange(from, new Date(time.dataset.to)) : format.format(from);
    }
    for (const zone of part.querySelectorAll("[data-zone]")) zone.textContent = zone.dataset.zone.replace("{zone}", format.resolvedOptions().timeZone.replaceAll("_", " "));
  };
  const refreshNow = async () => {
    if (document.hidden) return;
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-cache" });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    localise(fresh);
    for (const part of document.querySelectorAll("[data-live]")) {
      // What the page's owner wrote may have the same id.
      const next = fresh.querySelector(`#${part.id}[data-live]`);
      if (!next || part.contains(document.activeElement)) continue;
      for (const open of part.querySelectorAll("details[open]")) fresh.getElementById(open.id)?.setAttribute("open", "");
      if (next.className !== part.className) part.className = next.className;
      if (next.innerHTML !== part.innerHTML) part.replaceChildren(...next.childNodes);
    }
  };
  const refresh = () => {
    refreshNow().catch(() => {});
  };
  localise(document);
  setInterval(refresh, 60000);
  document.addEventListener("visibilitychange", refresh);
})();
