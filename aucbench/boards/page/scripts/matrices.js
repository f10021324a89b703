// Who differs from whom: p-values of all pairs. A pair is marked by a sign as well as by a colour.

const LEVEL = report.level;

// better(a, b): a positive number where a is the better one.
function pairMatrix(names, pairs, better, caption) {
  const cell = (row, column) => {
    if (row === column) return h("td", { class: "same", "aria-label": "the same method" });
    const p = pairOf(pairs, row, column);
    if (!known(p)) return h("td", null, nothing("not compared"));
    const side = better(row, column);
    const sure = p < LEVEL && side !== 0 && side !== null;
    const sign = sure ? (side > 0 ? "+" : "−") : "";
    const says = sure ? `${row} is significantly ${side > 0 ? "better" : "worse"} than ${column}` : `${row} and ${column} do not differ significantly`;
    return h("td", { class: sure ? (side > 0 ? "better" : "worse") : "level", title: `${says} (${chanceText(p)})` }, h("span", { class: "sign" }, sign), chance(p));
  };
  return h("div", { class: "scroll fit", tabindex: 0, role: "region", "aria-label": caption },
    h("table", { class: "matrix" }, h("caption", { class: "sr" }, caption),
      h("thead", null, h("tr", null, h("td", null), names.map((name) => h("th", { scope: "col", class: "upright" }, h("span", { title: name }, short(name, 20)))))),
      h("tbody", null, names.map((row) => h("tr", null, h("th", { scope: "row" }, methodLink(row)), names.map((column) => cell(row, column)))))));
}

function pairsReading(procedure, order) {
  return reading(`Each cell is the p-value, after Holm's correction, of the method of the line against that of the column (${procedure}). `,
    h("span", { class: "swash better" }, "+"), ` the line's method is significantly better (p below ${LEVEL}), `,
    h("span", { class: "swash worse" }, "−"), ` significantly worse; grey: not significant. Order: ${order}.`);
}

function boardPairs(board) {
  const means = new Map(board.rows.map((row) => [row.method, row.auc.value]));
  const names = board.rows.map((row) => row.method);
  if (!board.pairs.size) return section("pairs", "Pairs", h("p", null, "No pair was compared: a paired test needs two methods with two runs in common."));
  const better = (a, b) => (known(means.get(a)) && known(means.get(b)) ? means.get(a) - means.get(b) : null);
  return section("pairs", "Pairs", pairMatrix(names, board.pairs, better, `p-values of all pairs on ${board.label}`),
    pairsReading(board.procedure, "best mean AUC first"));
}

function overallPairs(overall) {
  const { order } = standing(overall);
  const place = new Map(order.map(({ method, rank }) => [method, rank.value]));
  const names = [...order.map((each) => each.method), ...overall.methods.filter((name) => !place.has(name))];
  if (!overall.pairs.size) return section("pairs", "Pairs", h("p", null, "No pair was compared across data sets: too few data sets have results of two methods."));
  const better = (a, b) => (place.has(a) && place.has(b) ? place.get(b) - place.get(a) : null);
  return section("pairs", "Pairs", pairMatrix(names, overall.pairs, better, "Adjusted p-values of all pairs across data sets"),
    pairsReading(overall.procedure, "best average rank first"));
}
