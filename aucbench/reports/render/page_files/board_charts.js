// Pictures of one board: curves, runs, p-values of pairs, and what was tuned.

const AXES = {
  samples: { label: "samples seen", short: "samples", format: compact, of: (curve) => curve.samples },
  seconds: { label: "training time", short: "after", format: duration, of: (curve) => curve.seconds },
  passes: { label: "passes over the training rows", short: "passes", format: compact, of: (curve) => curve.passes },
};

function curvesSection(board) {
  const rows = board.rows.filter((row) => row.curve);
  if (!rows.length) return section("curves", "Curves", h("p", null, "No curve was recorded on this board."));
  const without = board.rows.filter((row) => !row.curve).map((row) => row.method);
  const measured = report.others.filter(({ name }) => rows.some((row) => row.curve.others[name]));
  const names = rows.map((row) => row.method);
  const lit = () => highlights(names, board.baseline);
  const shown = () => visible(rows, lit());
  const near = rows.some((row) => row.curve.suboptimality) ? [["suboptimality", "suboptimality", "Of the training objective, relative to its certified minimum"]] : [];
  const measures = [["", report.measure.symbol, report.measure.title], ...measured.map(({ name, symbol, title }) => [name, symbol, title]), ...near];
  return section("curves", "Curves",
    h("div", { class: "controls" },
      measures.length > 1 ? toggle("Measure", "m", measures) : null,
      toggle("x axis", "x", [["seconds", "seconds"], ["samples", "samples"], ["passes", "passes"]]),
      toggle("Scale", "scale", [["log", "log"], ["linear", "linear"]]),
      toggle("y axis", "y", [["whole", "full", "All values"], ["close", "zoom", "Around the final values of the methods shown"]]),
      live(["band", ...HIGHLIGHT], () => h("label", { class: "check" }, h("input", {
        type: "checkbox", checked: banded(lit()), "data-key": "band", onchange: (event) => set({ band: event.target.checked ? "1" : "0" }),
      }), " bands"))),
    live(["m", "x", "scale", "y", "band", ...HIGHLIGHT], () => (state.m === "suboptimality" ? suboptimalityPicture : curvesPicture)(board, shown(), lit())),
    legend(names, board.baseline),
    live(["m"], () => (state.m === "suboptimality" ? objectivesOf(board) : reading(
      `Mean test ${report.measure.title} over the runs at common checkpoints; higher and further left is better. `, notesOn("band").join(" "),
      " They are drawn for the highlighted methods, or for the one under the pointer. Move over the picture, or use the arrow keys, for values.",
      known(board.target) ? ` The dotted line is the ${board.target_text}.` : "",
      without.length ? ` Without a curve: ${list(without)}.` : ""))));
}

function banded(lit) {
  return state.band === "" ? lit.size <= 4 : state.band === "1";
}

// The sentences of the notes that speak of something.
function notesOn(word) {
  return report.notes.filter((note) => note.toLowerCase().includes(word));
}

function curvesPicture(board, rows, lit) {
  if (!rows.length) return h("p", { class: "empty" }, "All methods are hidden.");
  const axis = AXES[state.x] || AXES.seconds;
  const other = report.others.find(({ name }) => name === state.m);
  const { symbol } = other ?? report.measure;
  const series = rows.filter((row) => !other || row.curve.others[other.name]).map((row) => curveOf(row, axis, other, board));
  if (!series.length) return h("p", { class: "empty" }, `No method shown has a curve of ${symbol}.`);
  const level = other ? null : board.target;
  const [low, high] = heights(series, level);
  return lineplot({
    series, lit, width: room(), height: room() > 700 ? 400 : 300, bands: !other && banded(lit), level,
    x: { ...axis, kind: state.scale === "linear" ? "linear" : "log" },
    y: { low, high, label: `test ${symbol}`, format: (value) => fixed(value, 4) },
    label: `Test ${symbol} against ${axis.label} on ${board.dataset}, ${rows.length} methods. Arrow keys read out values.`,
  });
}

// The checkpoints of a method at which the measure is known.
function curveOf(row, axis, other, board) {
  const values = other ? row.curve.others[other.name] : row.curve.auc;
  const at = values.map((value, k) => (known(value) ? k : -1)).filter((k) => k >= 0);
  const of = (all) => at.map((k) => all[k]);
  return {
    method: row.method, linear: row.linear, index: board.rows.indexOf(row), xs: of(axis.of(row.curve)), ys: of(values),
    low: of(other ? values : row.curve.low), high: of(other ? values : row.curve.high),
  };
}

function heights(series, level) {
  const all = series.flatMap((each) => [...each.ys, ...each.low, ...each.high]).filter(known);
  const [low, high] = zoomed(all, series.map((each) => [each.ys.filter(known).pop(), each.linear]));
  return known(level) ? [Math.min(low, level), Math.max(high, level)] : [low, high];
}

// The range of all values; in a zoom, from somewhat below the worst quarter of the final ones. These are [value, whether
// of a linear method]: references that are not linear may be far above all others, and do not widen the zoom downwards.
function zoomed(all, finals) {
  if (!all.length) return [0.5, 1];
  if (state.y !== "close") return padded(Math.min(...all), Math.max(...all));
  const measured = finals.filter(([value]) => known(value)).sort(([a], [b]) => a - b);
  const own = measured.filter(([, linear]) => linear);
  const ends = (own.length ? own : measured).map(([value]) => value);
  const [quarter, best, top] = [ends[Math.floor(ends.length / 4)], ends[ends.length - 1], measured[measured.length - 1][0]];
  const spread = Math.max(best - quarter, 0.005);
  return padded(quarter - spread, Math.max(top, best + spread / 2));
}

function padded(low, high) {
  const more = (high - low || 0.02) * 0.03;
  return [Math.max(0, low - more), Math.min(1, high + more)];
}

// The final AUC of every run, method under method.
function stripsSection(board) {
  return section("runs", "Runs",
    live(HIGHLIGHT, () => strips(board)),
    reading(`Each dot is the final test ${report.measure.title} of one run; a box holds the middle half of at least five runs, its stroke is their median. `,
      "The thin line is the confidence interval of the mean, the diamond on it the mean."));
}

function strips(board) {
  const { dataset, rows } = board;
  const lit = highlights(rows.map(({ method }) => method), board.baseline);
  const width = room();
  const left = width > 700 ? 170 : 108;
  const right = width - (width > 700 ? 130 : 14);
  const bottom = rows.length * 24 + 14;
  const values = rows.flatMap((row) => [...row.aucs, ...Object.values(row.auc)]).filter(known);
  if (!values.length) return h("p", { class: "empty" }, "No run has finished on this board.");
  const scale = linearScale(...padded(Math.min(...values), Math.max(...values)), left + 6, right - 6);
  return picture(width, bottom + 44, `Final test ${report.measure.title} of every run on ${dataset}`,
    bottomAxis(scale, { top: 4, bottom, left, right, label: `final test ${report.measure.symbol}`, format: decimals(scale) }),
    rows.map((row, k) => strip(row, scale, k * 24 + 17, { left, right, width, coloured: lit.has(row.method) })));
}

function strip(row, scale, y, { left, right, width, coloured }) {
  const style = lookOf(row.method);
  const found = row.aucs.filter(known);
  const { value, low, high } = row.auc;
  const [q1, middle, q3] = row.box.map(scale.at);
  const beside = width > 700 || !found.length;
  return s("g", { class: coloured ? "strip" : "strip rest", "data-method": row.method },
    s("text", { x: left - 10, y: y + 4, "text-anchor": "end" }, short(row.method, width > 700 ? 24 : 14), s("title", null, row.method)),
    row.box.length ? [s("rect", { class: "box", x: q1, y: y - 8, width: Math.max(1, q3 - q1), height: 16, rx: 2, fill: style.colour, stroke: style.colour }),
      s("path", { class: "median", d: `M${middle} ${y - 8}v16`, stroke: style.colour, "stroke-width": 2 })] : null,
    found.map((auc, k) => s("circle", { class: "dot", cx: scale.at(auc).toFixed(1), cy: y + (((k * 7) % 11) - 5), r: 2.4, fill: style.colour })),
    known(low) && known(high) ? s("path", { class: "whisker", d: `M${scale.at(low)} ${y}H${scale.at(high)}` }) : null,
    known(value) ? s("path", { class: "mean", d: markerPath("diamond", scale.at(value), y, 3) }, s("title", null, `mean ${row.mean}`)) : null,
    row.trouble && beside ? s("text", { class: "trouble", x: found.length ? right + 8 : (left + right) / 2, y: y + 4, "text-anchor": found.length ? "start" : "middle" }, row.trouble) : null);
}

// Who differs from whom: p-values of all pairs. A pair is marked by a sign as well as by a colour.
function pairsSection(names, { pairs, procedure }, order) {
  if (!pairs.length) return section("pairs", "Pairs", h("p", null, "No pair was compared: a test needs two methods with results in common."));
  const caption = `p-values of all pairs: ${procedure}`;
  const places = new Map(names.map((name, k) => [name, k]));
  const cell = (row, column) => (row === column ? h("td", { class: "same", "aria-label": "the same method" }) : pairCell(row, column, pairs[places.get(row)][places.get(column)]));
  return section("pairs", "Pairs",
    partsOf(names, names).map((columns) => matrix(caption, "pairs", columns.map((name) => h("span", { title: name }, short(name, 20))), names, (row) => columns.map((column) => cell(row, column)))),
    reading(`Each cell is the p-value, after Holm's correction, of the method of the line against that of the column (${procedure}). `,
      h("span", { class: "swash better" }, "+"), ` the line's method is significantly better (p below ${report.level}), `,
      h("span", { class: "swash worse" }, "−"), ` significantly worse; grey: not significant. Order: ${order}.`));
}

function pairCell(row, column, pair) {
  if (!pair) return h("td", null, nothing("not compared"));
  const [sign, p] = pair;
  const kind = { "+": "better", "-": "worse" }[sign];
  const says = kind ? `${row} is significantly ${kind} than ${column}` : `${row} and ${column} do not differ significantly`;
  return h("td", { class: kind ?? "level", title: `${says} (p ${p.startsWith("<") ? "" : "= "}${p})` },
    h("span", { class: "sign" }, sign.replace("-", "−")), p.replace(" 0.", ".").replace(/^0/, ""));
}

// How much a tuned field matters: AUC of all trials over its values.
function tuningSection(board) {
  const trials = new Map(Object.entries(board.trials));
  const names = [...trials.keys()].sort(naturally);
  if (!names.length) return board.tuned ? section("tuning", "Tuning", h("p", null, "The trials of the tuning were not kept, or tried one value.")) : null;
  const chosen = () => (names.includes(state.trial) ? state.trial : names[0]);
  return section("tuning", "Tuning",
    h("label", { class: "field" }, h("span", null, "Method"), h("select", { "data-key": "trial", onchange: (event) => set({ trial: event.target.value }) },
      names.map((name) => h("option", { value: name, selected: name === chosen() }, name)))),
    live(["trial"], () => tuningPictures(chosen(), trials.get(chosen()), board.tuned_by), { class: "multiples" }),
    reading(`Each dot is one trial, its height the mean ${board.tuned_by} over the inner folds; the line joins the best trials of each value. `,
      "A flat line: the field hardly matters. A best value at the border: the grid may be too small."));
}

function tuningPictures(method, tuned, measure) {
  const columns = Math.max(1, Math.min(tuned.length, Math.floor(room() / 330)));
  const width = Math.min(560, Math.floor((room() - 16 * (columns - 1)) / columns));
  return tuned.map((field) => tuningPicture(method, field, width, measure));
}

function tuningPicture(method, [field, numeric, points, best], width, measure) {
  const [left, right, top, bottom] = [52, width - 14, 28, 186];
  const values = best.map(([value]) => value);
  const log = numeric && values[0] > 0 && values[values.length - 1] / values[0] > 15;
  const across = numeric ? scaleOf(log ? "log" : "linear", values, left + 8, right - 8) : namedScale(values, left, right);
  const aucs = points.map(([, auc]) => auc);
  const up = linearScale(...padded(Math.min(...aucs), Math.max(...aucs)), bottom, top);
  const { colour } = lookOf(method);
  return picture(width, 230, `${measure} of the trials of ${method} over ${field}`,
    bottomAxis(across, { top, bottom, left, right, label: field, format: numeric ? tidy : (value) => short(value, 12) }),
    leftAxis(up, { top, left, right, label: `validation ${measure}`, format: decimals(up) }),
    points.map(([value, auc]) => s("circle", { class: "dot", cx: across.at(value).toFixed(1), cy: up.at(auc).toFixed(1), r: 2.8, fill: colour },
      s("title", null, `${field} = ${value}: ${fixed(auc, 4)}`))),
    s("path", { class: "line", d: `M${best.map(([value, auc]) => `${across.at(value).toFixed(1)} ${up.at(auc).toFixed(1)}`).join("L")}`, stroke: colour }));
}

function namedScale(names, left, right) {
  const step = (right - left) / names.length;
  return { at: (name) => left + step * (names.indexOf(name) + 0.5), ticks: names };
}
