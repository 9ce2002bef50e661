"use strict";
const page = JSON.parse(document.getElementById("data").textContent);
const state = { layer: page.head[0], head: page.head[1], alone: false, row: null, pinned: null };
const SVG = "http://www.w3.org/2000/svg";
const MEAN = -1;  // instead of a head or a layer: the mean of all
const STEPS = 255, HEIGHT = 26, GAP = 14, LEAST = 0.01;  // lines of less are not drawn: they would be thousands

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const make = (name, parent, className, text) => {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
};
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const percent = (weight) => weight >= 0.0995 ? `${Math.round(100 * weight)} %` : `${(100 * weight).toFixed(1)} %`;
const isWord = (model, column) => column >= model.before && column < model.before + model.size;

for (const model of page.models) {
  model.bytes = bytes(model.weights);
  model.width = model.columns.length;
  // The words first, the special tokens apart below them.
  const all = model.columns.map((_, column) => column);
  model.order = [...all.filter((column) => isWord(model, column)), ...all.filter((column) => !isWord(model, column))];
}

/** The weights of a head, or their mean over heads or layers: rows * columns numbers. */
function matrix(model, layer, head) {
  const size = model.rows * model.width, sum = new Float32Array(size);
  const layers = layer === MEAN ? [...Array(model.layers).keys()] : [Math.min(layer, model.layers - 1)];
  const heads = head === MEAN ? [...Array(model.heads).keys()] : [Math.min(head, model.heads - 1)];
  for (const one of layers) for (const other of heads) {
    const start = (one * model.heads + other) * size;
    for (let at = 0; at < size; at++) sum[at] += (model.bytes[start + at] / STEPS) ** 2;
  }
  return sum.map((value) => value / (layers.length * heads.length));
}

/** A row of weights, by column; of the words alone it is divided by their sum. */
function rowOf(model, weights, row) {
  const rows = row === "entity" ? entityRows(model) : row === null ? wordRows(model) : [Math.min(row, model.rows - 1)];
  const mean = model.columns.map((_, column) => rows.reduce((sum, each) => sum + weights[each * model.width + column], 0) / rows.length);
  if (!state.alone) return mean;
  const words = mean.reduce((sum, value, column) => sum + (isWord(model, column) ? value : 0), 0) || 1;
  return mean.map((value, column) => isWord(model, column) ? value / words : 0);
}
const wordRows = (model) => model.pooling ? [0] : model.order.slice(0, model.size);
const entityRows = (model) => model.pooling ? [0] : wordRows(model).slice(...page.entity);

const grids = document.querySelector(".grids"), heads = document.querySelector(".heads"), status = document.getElementById("status");
const thumbnails = [];

/** A picture of the words' weights; the part of the special tokens is the bar below. */
function thumbnail(map, model, layer, head, focusable) {
  const button = make("button", map), canvas = make("canvas", button), bar = make("i", button);
  const weights = matrix(model, layer, head), rows = wordRows(model);
  canvas.width = canvas.height = model.size;
  let words = 0;
  for (const row of rows) for (const column of rows) words += weights[row * model.width + column];
  bar.style.setProperty("--part", `${100 * (1 - words / model.size)}%`);
  button.type = "button";
  button.tabIndex = focusable ? 0 : -1;
  button.setAttribute("aria-label", `${model.name}, ${named(layer, head)}: special tokens ${percent(1 - words / model.size)}`);
  button.title = named(layer, head);
  button.addEventListener("click", () => {
    choose(layer, head);
    const title = document.getElementById("detail-title");
    title.focus({ preventScroll: true });
    title.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  });
  thumbnails.push({ button, layer, head, paint() {
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, model.size, model.size);
    pen.fillStyle = colour("--accent");
    rows.forEach((row, y) => rows.forEach((column, x) => {
      pen.globalAlpha = Math.min(1, Math.sqrt(weights[row * model.width + column]));
      pen.fillRect(x, y, 1, 1);
    }));
  } });
  return button;
}
const named = (layer, head) => layer === MEAN ? "mean of all layers and heads" : head === MEAN ? `layer ${layer + 1}, mean of its heads` : `layer ${layer + 1}, head ${head + 1}`;

function grid(model) {
  const part = make("div", grids);
  make("h3", part, "", model.name);
  const map = make("div", part, "map");
  map.style.gridTemplateColumns = `1.4rem repeat(${model.heads + 1}, minmax(0, 1fr))`;
  make("span", map);
  for (let head = 0; head < model.heads; head++) make("span", map, "", head + 1);
  make("span", map, "", "mean");
  const buttons = [];
  for (let layer = 0; layer < model.layers; layer++) {
    make("span", map, "", layer + 1);
    for (let head = 0; head <= model.heads; head++) {
      buttons.push(thumbnail(map, model, layer, head === model.heads ? MEAN : head, layer === 0 && head === 0));
    }
  }
  // One stop of the tabulator for a grid; the arrows move within it.
  map.addEventListener("keydown", (event) => {
    const across = model.heads + 1, at = buttons.indexOf(document.activeElement);
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[event.key];
    const edge = { Home: at - at % across, End: at - at % across + across - 1 }[event.key];
    const next = buttons[edge === undefined ? at + step : edge];
    if (at < 0 || !next) return;
    event.preventDefault();
    buttons[at].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}

/** Two columns of words and the lines between; a pooling has one column. */
function lines(model) {
  const part = make("div", heads);
  make("h3", part, "", model.name);
  const box = make("div", part, model.pooling ? "lines alone" : "lines");
  const from = model.pooling ? null : make("ol", box, "from");
  const drawing = model.pooling ? null : document.createElementNS(SVG, "svg");
  if (from) from.setAttribute("aria-label", "from: each word shows its row");
  if (drawing) { drawing.setAttribute("aria-hidden", "true"); box.append(drawing); }
  const to = make("ol", box, "to");
  to.setAttribute("aria-label", "to");
  const items = { from: [], to: [] };
  const isEntity = (place) => page.entity && place >= page.entity[0] && place < page.entity[1];
  model.order.forEach((column, place) => {
    const className = `${place >= model.size ? "special" : isEntity(place) ? "entity" : ""} ${place === model.size ? "gap" : ""}`.trim();
    const right = make("li", to, className);
    make("b", right, "", model.columns[column]).title = model.columns[column];
    items.to.push([column, right, make("output", right)]);
    if (!from) return;
    const left = make("li", from, className), button = make("button", left, "", model.columns[column]);
    button.type = "button";
    button.title = model.columns[column];
    items.from.push([column, left]);
    button.addEventListener("mouseenter", () => show(column));
    button.addEventListener("focus", () => show(column));
    button.addEventListener("mouseleave", () => show(state.pinned));
    button.addEventListener("blur", () => show(state.pinned));
    button.addEventListener("click", () => { state.pinned = state.pinned === column ? null : column; show(state.pinned ?? column); });
    button.addEventListener("keydown", (event) => {
      const sibling = { ArrowDown: left.nextElementSibling, ArrowUp: left.previousElementSibling }[event.key];
      if (event.key === "Escape") { state.pinned = null; show(null); }
      if (sibling) { event.preventDefault(); sibling.firstChild.focus(); }
    });
  });
  const middle = (place) => (place + 0.5) * HEIGHT + (place >= model.size ? GAP : 0);
  return () => {
    const weights = matrix(model, state.layer, state.head), row = rowOf(model, weights, state.row);
    for (const [column, item, output] of items.to) {
      const hide = state.alone && !isWord(model, column);
      output.textContent = hide ? "" : percent(row[column]);
      item.style.setProperty("--part", hide || row[column] < 0.005 ? "0" : `${100 * row[column]}%`);
    }
    // Bars alone are compared with each other: the longest fills the line.
    if (!from) for (const [column, item] of items.to) item.style.setProperty("--part", `${100 * row[column] / Math.max(...row)}%`);
    const active = state.row === "entity" ? entityRows(model) : state.row === null ? wordRows(model) : [state.row];
    for (const [column, item] of items.from) {
      item.classList.toggle("on", state.row !== null && active.includes(column));
      item.classList.toggle("pinned", state.pinned === column);
    }
    if (drawing) draw(drawing, model, weights, active, middle);
  };
}

function draw(drawing, model, weights, active, middle) {
  const wide = drawing.clientWidth || 100, high = model.width * HEIGHT + (model.width > model.size ? GAP : 0);
  drawing.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  drawing.style.height = `${high}px`;
  const paths = [];
  for (const row of active) {
    const values = rowOf(model, weights, row), y = middle(model.order.indexOf(row));
    model.order.forEach((column, place) => {
      const special = !isWord(model, column);
      // Without a chosen word, only lines between words: those to the special tokens would cover them.
      if (values[column] < Math.min(LEAST, 0.5 / model.width) || (special && state.row === null)) return;
      const path = document.createElementNS(SVG, "path"), end = middle(place);
      path.setAttribute("d", `M0 ${y}C${wide / 2} ${y} ${wide / 2} ${end} ${wide} ${end}`);
      path.setAttribute("stroke-width", (0.75 + 4 * values[column]).toFixed(2));
      path.setAttribute("stroke-opacity", Math.min(1, 0.06 + 1.3 * values[column]).toFixed(3));
      if (special) path.setAttribute("class", "special");
      paths.push(path);
    });
  }
  drawing.replaceChildren(...paths);
}

let drawn = [];
function show(row) {
  state.row = row;
  refresh();
}
function refresh() {
  drawn.forEach((paint) => paint());
  for (const { button, layer, head } of thumbnails) button.setAttribute("aria-current", String(layer === state.layer && head === state.head));
  const first = page.models[0];
  const who = first.pooling ? "" : state.row === "entity" ? `From the entity (mean of its words): ` : state.row === null ? "Mean of all words: " : `From “${first.columns[state.row] ?? ""}”: `;
  const told = page.models.map((model) => {
    const row = rowOf(model, matrix(model, state.layer, state.head), state.row);
    const best = model.order.slice(0, model.size).sort((a, b) => row[b] - row[a]).slice(0, 3);
    return `${page.models.length > 1 ? `${model.name}: ` : ""}${best.map((column) => `${model.columns[column]} ${percent(row[column])}`).join(", ")}`;
  });
  status.textContent = who + told.join("; ") + ".";
}

function choose(layer, head) {
  [state.layer, state.head] = [layer, head];
  const lists = [document.getElementById("layer"), document.getElementById("head")];
  if (lists[0]) {
    lists[0].value = layer;
    lists[1].value = layer === MEAN ? MEAN : head;
    lists[1].disabled = layer === MEAN;
  }
  refresh();
  document.dispatchEvent(new CustomEvent("head"));
}

(() => {
  const root = document.documentElement, theme = document.getElementById("theme"), prefers = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => { try { return localStorage.getItem("blurb-theme"); } catch { return null; } };
  const isDark = () => (root.dataset.theme || (prefers.matches ? "dark" : "light")) === "dark";
  const paint = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
    thumbnails.forEach((each) => each.paint());
    document.dispatchEvent(new CustomEvent("head"));
  };
  if (["dark", "light"].includes(stored())) root.dataset.theme = stored();
  theme.hidden = false;
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("blurb-theme", root.dataset.theme); } catch { /* a file may have no storage */ }
    paint();
  });
  prefers.addEventListener("change", paint);

  const encoders = page.models.filter((model) => !model.pooling), detail = document.getElementById("detail");
  if (grids) { encoders.forEach(grid); document.getElementById("entry").hidden = false; }
  detail.hidden = false;
  drawn = page.models.map(lines);
  const layer = document.getElementById("layer"), head = document.getElementById("head");
  if (layer) {
    const most = (name) => Math.max(...encoders.map((model) => model[name]));
    for (let at = 0; at < most("layers"); at++) layer.add(new Option(at + 1, at));
    for (let at = 0; at < most("heads"); at++) head.add(new Option(at + 1, at));
    layer.add(new Option("mean of all", MEAN));
    head.add(new Option("mean of all", MEAN));
    const pick = () => choose(+layer.value, +layer.value === MEAN ? MEAN : +head.value === MEAN && state.layer === MEAN ? 0 : +head.value);
    layer.addEventListener("change", pick);
    head.addEventListener("change", pick);
  }
  document.getElementById("scale").addEventListener("change", (event) => { state.alone = event.target.value === "words"; refresh(); });
  const clear = document.getElementById("clear");
  clear.addEventListener("click", () => { state.pinned = null; show(null); });
  if (page.entity && layer) {
    const button = make("button", clear.parentNode, "", "From the entity");
    button.type = "button";
    button.id = "from-entity";
    button.addEventListener("click", () => { state.pinned = "entity"; show("entity"); });
  }
  clear.hidden = !layer;
  paint();
  choose(state.layer, state.head);
  addEventListener("resize", refresh);
})();
