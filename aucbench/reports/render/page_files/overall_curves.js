// What a group of boards shows first: curves on all data sets, and how many targets were reached at what cost.

function namesOf(group) {
  return group.lines.map(({ method }) => method);
}

function highlightsOf(group) {
  return highlights(namesOf(group), group.baseline);
}

const FIRST = 4; // pictures that a narrow screen shows before it is asked for more

// Small pictures in as many columns as fit, all of one width; of a single long column the first few, then a button.
function multiples(items, least, draw) {
  const columns = Math.max(1, Math.min(items.length, Math.floor((room() + 16) / (least + 16))));
  const width = Math.floor((room() - 16 * (columns - 1)) / columns);
  const panels = items.map((item) => h("figure", { class: "panel" }, draw(item, width)));
  if (columns > 1 || items.length <= FIRST + 1) return h("div", { class: "multiples" }, panels);
  return [
    h("div", { class: "multiples" }, panels.slice(0, FIRST)),
    h("details", { class: "more", open: multiples.open, ontoggle: (event) => { multiples.open = event.target.open; } },
      h("summary", null, many(items.length - FIRST, "more data set")), h("div", { class: "multiples" }, panels.slice(FIRST))),
  ];
}

// The curves of all data sets: distance to the best against cost.
function allCurvesSection(group) {
  const names = namesOf(group);
  const near = Boolean(group.reached.suboptimality);
  const what = () => (near && state.m === "suboptimality" ? "suboptimality" : "gap");
  return section("curves", "Curves on all data sets",
    h("div", { class: "controls" },
      near ? toggle("Measure", "m", [["", `gap in ${report.measure.symbol}`, `The best ${report.measure.title} reached on the data set minus that of the method`],
        ["suboptimality", "suboptimality", "Of the training objective, relative to its certified minimum"]]) : null,
      toggle("x axis", "x", [["seconds", "seconds"], ["samples", "samples"], ["passes", "passes"]]),
      toggle("y axis", "y", [["whole", "full", "All values"], ["close", "zoom", "Around the final values of the methods highlighted"]])),
    legend(names, group.baseline),
    live([...HIGHLIGHT, "m", "x", "y"], () => {
      const lit = highlightsOf(group);
      return multiples(group.boards, 270, (board, width) => [h("figcaption", null, boardLink(board)), gapPanel(board, lit, what(), width)]);
    }),
    live(["m", "x"], () => reading(`x axis: ${(AXES[state.x] ?? AXES.seconds).label}, logarithmic. y axis, logarithmic: `, what() === "gap"
      ? [`the gap to the best, that is, the largest mean ${report.measure.symbol} on the curve of any linear method without missing runs, minus the mean ${report.measure.symbol} of the method; lower and further left is better. `,
        `Smaller gaps than ${tidy(report.floor)} are drawn there. The dotted line is the target, ${percent(report.target)} of the way from chance to the best mean ${report.measure.symbol} at the end. `]
      : ["how far the training objective is above its certified minimum, as a share of that minimum; each method is measured against the minimum of its own objective. "],
    `At most ${MOST} methods have colours: the best by average rank, the baseline, and those that you choose above. Point at a line, a name or a row, or move the focus there, and that method stands out in all pictures; in a picture the arrow keys read out values.`)));
}

function gapPanel(board, lit, what, width) {
  const axis = AXES[state.x] ?? AXES.seconds;
  const series = board.rows.filter((row) => row.curve?.[what]).map((row, index) => ({ method: row.method, index, xs: axis.of(row.curve), ys: row.curve[what] }));
  const shown = visible(series, lit);
  if (!shown.length) return h("p", { class: "empty" }, series.length ? "All methods are hidden." : what === "gap" ? "No curve was recorded." : "No certified minimum.");
  const target = what === "gap" ? board.target_gap : null;
  const [low, high] = gapHeights(shown, lit, target);
  const shownGap = (value) => (what === "gap" ? (value <= report.floor ? `≤ ${tidy(report.floor)}` : value.toPrecision(2)) : value.toExponential(1));
  return lineplot({
    series, lit, width, height: 200, bands: false, level: target, small: true,
    x: { ...axis, kind: "log" },
    y: { kind: "log", low, high, label: "", format: shownGap, tick: tidy },
    label: `${what === "gap" ? "Gap to the best" : "Relative suboptimality"} against ${axis.label} on ${board.dataset}, ${series.length} methods. Arrow keys read out values.`,
  });
}

// From a little below the least to all values, or to a little above where the highlighted methods end.
function gapHeights(shown, lit, target) {
  const positive = (values) => values.filter((value) => known(value) && value > 0);
  const all = positive(shown.flatMap((each) => each.ys));
  if (!all.length) return [1e-3, 1];
  const low = Math.max(Math.min(...all), state.y === "close" ? 1e-6 : 0);
  const ends = positive(shown.filter(({ method }) => lit.has(method)).map(({ ys }) => ys.filter(known).pop()));
  const top = state.y === "close" && ends.length ? Math.min(Math.max(...all), 3 * Math.max(...ends, 10 * low, target ?? 0)) : Math.max(...all);
  return [Math.min(low, target || low) / 1.3, Math.max(top, target || top) * 1.2];
}

// The share of all pairs of a data set and a target that a method reaches within a cost.
function reachedSection(group) {
  if (!group.reached[""]) return null;
  const names = namesOf(group);
  const found = () => group.reached[state.m] ?? group.reached[""];
  const cost = () => (state.x === "seconds" ? "seconds" : "passes");
  const partial = () => found()[cost()].filter(([, , , count]) => count < group.boards.length);
  const percents = report.fractions.map((share) => Number((100 * share).toPrecision(4)));
  return section("reached", "Targets reached",
    live([...HIGHLIGHT, "m", "x"], () => sharePlot(found()[cost()], highlightsOf(group), {
      x: { ...AXES[cost()], kind: "log" }, what: "share of targets reached",
    })),
    live(["m", "x"], () => reading(found() === group.reached[""]
      ? `The share of all ${group.boards.length * percents.length} pairs of a data set and a target ${report.measure.symbol} that a method reaches within a cost, the median over its runs (an empirical distribution function, as in COCO). The targets of a data set are ${list(percents.map(String))} % of the way from chance to the best mean ${report.measure.symbol} of a linear method at the end of training. `
      : "The share of all pairs of a data set and a relative suboptimality (1e-2, 1e-3, 1e-4) that a method reaches within a cost, the median over its runs; each method is measured against the certified minimum of its own objective. ",
    "Higher and further left is better. A line that stays level never reaches the rest.",
    partial().length ? ` Over fewer data sets: ${list(partial().map(([method, , , count]) => `${method} (${count} of ${group.boards.length})`))}.` : "")));
}

// Lines of shares that rise in steps; `lines` are [method, at, share].
function sharePlot(lines, lit, { x, what }) {
  const series = lines.map(([method, xs, ys], index) => ({ method, index, xs, ys }));
  if (!visible(series, lit).length) return h("p", { class: "empty" }, "All methods are hidden.");
  return lineplot({
    series, lit, width: room(), height: room() > 700 ? 380 : 300, stepped: true, bands: false, x,
    y: { low: 0, high: 1, label: what, format: percent, tick: percent },
    label: `${what[0].toUpperCase()}${what.slice(1)} against ${x.label}. Arrow keys read out values.`,
  });
}
