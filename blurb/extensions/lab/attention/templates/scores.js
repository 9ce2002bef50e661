/* Queries, keys and scores of the word that was asked for. */
(() => {
  if (page.asked === null) return;
  const section = document.getElementById("products"), place = section.querySelector(".scores");
  section.hidden = false;

  /** Numbers of a head, a row each: whole numbers times the step of the head. */
  function rows(values, steps, index, count, size) {
    return Array.from({ length: count }, (_, row) => Array.from({ length: size }, (_, at) => values[(index * count + row) * size + at] * steps[index]));
  }

  function strip(cell, numbers, most, name) {
    const canvas = make("canvas", cell), pen = canvas.getContext("2d");
    canvas.width = numbers.length;
    canvas.height = 1;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${name}: ${numbers.length} numbers`);
    numbers.forEach((value, at) => {
      pen.globalAlpha = Math.min(1, Math.abs(value) / most);
      pen.fillStyle = colour(value < 0 ? "--below" : "--above");
      pen.fillRect(at, 0, 1, 1);
    });
  }

  function table(part, model, piece, index) {
    const { scores } = model, count = scores.pieces.length;
    const whole = scores.wholeScores, mine = scores.mine.length;
    const values = rows(whole, scores.scores_step, index, mine, count)[piece];
    const top = Math.max(...values), powers = values.map((value) => Math.exp(value - top)), sum = powers.reduce((a, b) => a + b, 0);
    const details = make("details", part);
    details.open = piece === 0;
    make("summary", details, "", `query of ${scores.pieces[scores.mine[piece]]}`);
    const scroll = make("div", details, "scroll"), element = make("table", scroll);
    scroll.tabIndex = 0;
    const head = make("tr", make("thead", element)), body = make("tbody", element);
    const vectors = scores.wholeKeys && {
      query: rows(scores.wholeQueries, scores.queries_step, index, mine, scores.size)[piece],
      keys: rows(scores.wholeKeys, scores.keys_step, index, count, scores.size),
    };
    for (const title of ["key of", ...(vectors ? ["key", "query × key"] : []), "score", "weight"]) make("th", head, "", title).scope = "col";
    if (vectors) {
      const first = make("tr", body);
      make("th", first, "", "(the query)").scope = "row";
      strip(make("td", first), vectors.query, Math.max(...vectors.query.map(Math.abs)), "query");
      for (let at = 0; at < 3; at++) make("td", first);
    }
    const products = vectors && vectors.keys.map((key) => key.map((value, at) => value * vectors.query[at]));
    const largest = (lists) => Math.max(...lists.flat().map(Math.abs)) || 1;
    values.forEach((score, at) => {
      const row = make("tr", body);
      make("th", row, "", scores.pieces[at]).scope = "row";
      if (vectors) {
        strip(make("td", row), vectors.keys[at], largest(vectors.keys), "key");
        strip(make("td", row), products[at], largest(products), "query times key");
      }
      make("td", row, "", (Math.abs(score) < 0.005 ? 0 : score).toFixed(2).replace("-", "−"));
      make("td", row, "", percent(powers[at] / sum));
    });
  }

  for (const { scores } of page.models) {
    if (!scores || scores.why) continue;
    scores.wholeScores = new Int16Array(bytes(scores.scores).buffer);
    if (!scores.keys) continue;
    scores.wholeKeys = new Int8Array(bytes(scores.keys).buffer);
    scores.wholeQueries = new Int8Array(bytes(scores.queries).buffer);
  }
  const refreshScores = () => {
    place.replaceChildren();
    for (const model of page.models) {
      const part = make("div", place), { scores } = model;
      make("h3", part, "", model.name);
      if (scores.why) { make("p", part, "note", `None: ${scores.why}.`); continue; }
      if (state.layer === MEAN || state.head === MEAN) { make("p", part, "note", "Choose one head: a mean has no queries and keys."); continue; }
      const layer = Math.min(state.layer, model.layers - 1), head = Math.min(state.head, model.heads - 1);
      make("p", part, "note", `Layer ${layer + 1}, head ${head + 1}; vectors of ${scores.size} numbers.${scores.left_out ? " The vectors themselves would make this page too large; the scores are exact." : ""}`);
      scores.mine.forEach((_, piece) => table(part, model, piece, layer * model.heads + head));
    }
  };
  document.addEventListener("head", refreshScores);
  refreshScores();
})();
