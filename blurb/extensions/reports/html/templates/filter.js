"use strict";
(() => {
  const form = document.querySelector(".filters"), articles = [...document.querySelectorAll("article")];
  const selects = [...form.querySelectorAll("select")], find = form.querySelector("input"), status = form.querySelector("[role=status]");
  const most = 60;  // values of a list that a person still reads
  for (const select of selects) {
    const counts = new Map();
    for (const article of articles) {
      const value = article.getAttribute(`data-f${select.dataset.facet}`);
      counts.set(value, (counts.get(value) || 0) + 1);
    }
    if (counts.size < 2 || counts.size > most) continue;
    for (const [value, count] of [...counts].sort((a, b) => b[1] - a[1])) select.add(new Option(`${value} (${count})`, value));
    select.parentNode.hidden = false;
  }
  const apply = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const article of articles) {
      const text = words.length ? article.textContent.toLowerCase() : "";
      const fits = selects.every((select) => !select.value || article.getAttribute(`data-f${select.dataset.facet}`) === select.value) && words.every((word) => text.includes(word));
      article.hidden = !fits;
      shown += fits;
    }
    for (const group of document.querySelectorAll("details")) {
      const count = group.querySelectorAll("article:not([hidden])").length;
      group.hidden = !count;
      group.querySelector("summary span").textContent = `(${count.toLocaleString("en")})`;
    }
    if (shown < articles.length) for (const group of document.querySelectorAll("details:not([hidden])")) group.open = true;
    status.textContent = shown === articles.length ? "" : `${shown} of ${articles.length}.`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = !articles.length;
})();
