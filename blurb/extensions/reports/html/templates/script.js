"use strict";
(() => {
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const prefers = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => { try { return localStorage.getItem("blurb-theme"); } catch { return null; } };
  const isDark = () => (root.dataset.theme || (prefers.matches ? "dark" : "light")) === "dark";
  const label = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`); };
  if (["dark", "light"].includes(stored())) root.dataset.theme = stored();
  theme.hidden = false;
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("blurb-theme", root.dataset.theme); } catch { /* a file may have no storage */ }
    label();
  });
  prefers.addEventListener("change", label);
  label();

  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", open);
  open();

  for (const board of document.querySelectorAll(".board")) {
    table(board);
    if (board.querySelector(".data")) comparison(board);
  }

  function table(board) {
    const main = board.querySelector("table.main"), body = main.tBodies[0], status = board.querySelector(".status");
    const rows = [...body.rows], heads = [...main.tHead.rows[0].cells];
    const say = (text) => { status.textContent = text; };
    const key = (row, column, numeric) => numeric ? parseFloat(row.cells[column].dataset.v) : row.cells[column].textContent.toLowerCase();

    heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
      const numeric = head.classList.contains("n");
      const first = numeric ? "descending" : "ascending", second = numeric ? "ascending" : "descending";
      const order = head.getAttribute("aria-sort") === first ? second : first;
      for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      rows.sort((a, b) => {
        const x = key(a, column, numeric), y = key(b, column, numeric);
        if (numeric && (isNaN(x) || isNaN(y))) return isNaN(x) - isNaN(y);  // what is not there comes last both ways
        return sign * (numeric ? x - y : x.localeCompare(y)) || a.dataset.row - b.dataset.row;
      });
      body.append(...rows);
      say(`Sorted by ${head.firstElementChild.textContent}, ${order}.`);
    }));

    const find = board.querySelector(".find"), kind = board.querySelector(".kind");
    const filter = () => {
      const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      const shown = new Set();
      for (const row of rows) {
        const text = (row.cells[0].textContent + " " + row.lastElementChild.textContent).toLowerCase();
        const fits = { "": true, own: row.dataset.kind !== "published", published: row.dataset.kind === "published", complete: row.dataset.complete === "yes", verified: Boolean(row.dataset.verifier) };
        if ((fits[kind.value] ?? kind.value === `by ${row.dataset.verifier}`) && words.every((word) => text.includes(word))) shown.add(row.dataset.row);
      }
      for (const one of board.querySelectorAll("table.main tr.row, .strip .row, details.row")) one.toggleAttribute("hidden", !shown.has(one.dataset.row));
      say(shown.size === rows.length ? "" : `${shown.size} of ${rows.length} rows.`);
    };
    find.addEventListener("input", filter);
    kind.addEventListener("change", filter);
    for (const one of board.querySelectorAll(".choice input")) {
      one.addEventListener("change", () => { if (one.checked) main.dataset.columns = one.value; });
      if (one.checked) main.dataset.columns = one.value;
    }
    const focus = board.querySelector("select.focus");
    const highlight = () => {
      for (const one of board.querySelectorAll(".row")) one.classList.toggle("on", one.dataset.row === focus.value);
      for (const one of board.querySelectorAll("svg .row.on")) if (one.querySelector(".curve") || one.closest(".strip")) one.parentNode.append(one);  // above the others
      for (const strip of board.querySelectorAll(".strip:has(output)")) strip.querySelector("output").textContent = strip.querySelector(".row.on")?.dataset.v ?? "–";
    };
    focus.addEventListener("change", highlight);
    board.querySelector(".strips")?.addEventListener("click", (event) => {
      const dot = event.target.closest(".row");
      if (dot) { focus.value = dot.dataset.row; highlight(); }
    });
    highlight();
    filter();
  }

  function comparison(board) {
    const data = JSON.parse(board.querySelector("script.data").textContent);
    const section = board.querySelector("table.comparison"), body = section.tBodies[0];
    const first = board.querySelector("select.first"), other = board.querySelector("select.other");
    const fixed = (value, digits = 2) => value === null ? "–" : value.toFixed(digits);
    const signed = (value, digits = 2) => {
      if (value === null) return "–";
      const text = Math.abs(value).toFixed(digits);
      return (+text === 0 ? "" : value > 0 ? "+" : "−") + text;
    };
    const make = (name, text, classes) => {
      const made = document.createElement(name);
      made.textContent = text;
      if (classes) made.className = classes;
      return made;
    };
    const draw = (name, attributes) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      return made;
    };

    const lines = () => {
      const a = +first.value, b = +other.value, turned = a > b;
      const pair = data.pairs[turned ? `${b}-${a}` : `${a}-${b}`];
      return data.titles.map((title, place) => {
        const before = data.means[a][place], after = data.means[b][place];
        const [half, p, reason] = pair ? pair[place] : [null, null, 0];
        const there = before !== null && after !== null;
        return { title, before, after, half, p, weight: data.weights[place], difference: there ? before - after : null, reason: a === b ? "the same row" : pair ? data.reasons[reason] : data.runs[a] && data.runs[b] ? "not on this page; use blurb compare" : "a number without runs" };
      }).filter((line) => line.before !== null || line.after !== null);
    };

    const show = () => {
      const found = lines(), a = +first.value, b = +other.value;
      const reach = Math.max(1, ...found.map((line) => line.difference === null ? 0 : Math.abs(line.difference) + (line.half || 0)));
      const x = (value) => 80 + 76 * value / reach;
      const scored = found.some((line) => line.weight === 1 && line.difference !== null);
      body.replaceChildren(...found.map((line) => {
        const row = document.createElement("tr");
        const head = make("th", line.title);
        head.scope = "row";
        const sure = line.p !== null && line.p < 0.05;
        const verdict = line.difference === null ? "missing in one row" : line.p === null ? `cannot judge: ${line.reason}` : sure ? `${data.names[line.difference > 0 ? a : b]} is higher` : "no difference shown";
        const cell = make("td", "", "forest text");
        if (line.difference !== null) {
          const picture = draw("svg", { viewBox: "0 0 160 16", role: "img", "aria-label": line.half === null ? "no interval" : `${signed(line.difference - line.half)} to ${signed(line.difference + line.half)}` });
          picture.append(draw("path", { class: "grid", d: "M80 0v16" }));
          if (sure) picture.classList.add("on");
          if (line.half !== null) picture.append(draw("path", { class: "whisker", d: `M${x(line.difference - line.half)} 8H${x(line.difference + line.half)}` }));
          picture.append(draw("circle", { class: "dot", cx: x(line.difference), cy: 8, r: 3.2 }));
          cell.append(picture);
          if (line.half !== null) cell.append(make("small", `${signed(line.difference - line.half, 1)} to ${signed(line.difference + line.half, 1)}`));
        }
        row.append(head, make("td", fixed(line.before)), make("td", fixed(line.after)), make("td", signed(line.difference), sure ? "sure" : ""),
          make("td", scored && line.weight !== null && line.difference !== null ? signed(line.weight * line.difference) : ""), cell,
          make("td", line.p === null ? "–" : line.p < 0.001 ? "< 0.001" : line.p.toFixed(3)), make("td", verdict, sure ? "text sure" : "text"));
        return row;
      }));
      section.caption.firstElementChild.textContent = `${data.names[a]} minus ${data.names[b]}, test` + (data.remarks[`${a}-${b}`] ? `. The rows differ: ${data.remarks[`${a}-${b}`]}.` : "");
    };

    [first.value, other.value] = data.opening;
    board.querySelector(".swap").addEventListener("click", () => { [first.value, other.value] = [other.value, first.value]; show(); });
    first.addEventListener("change", show);
    other.addEventListener("change", show);
    section.hidden = board.querySelector(".tools.comparison").hidden = false;
    show();
  }
})();
