// The training objective: suboptimality against cost on a board.

function suboptimalityPicture(board, rows, lit) {
  const found = rows.filter((row) => row.curve.suboptimality);
  if (!found.length) return h("p", { class: "empty" }, "No method shown has a certified minimum.");
  const axis = AXES[state.x] || AXES.samples;
  const many = board.objectives.length > 1;
  const series = found.map((row) => ({
    method: row.method, index: board.rows.indexOf(row), xs: axis.of(row.curve), ys: row.curve.suboptimality,
    tag: many ? board.objectives.find(({ methods: own }) => own.includes(row.method))?.sign : "",
  }));
  const values = series.flatMap((each) => each.ys).filter((value) => known(value) && value > 0);
  const lowest = Math.min(...values);
  return lineplot({
    series, lit, width: room(), height: room() > 700 ? 400 : 300, bands: false,
    x: { ...axis, kind: state.scale === "linear" ? "linear" : "log" },
    y: { kind: "log", low: (state.y === "close" ? Math.max(lowest, 1e-6) : lowest) / 1.3, high: Math.max(...values) * 1.3, label: "relative suboptimality", format: (value) => value.toExponential(1), tick: tidy },
    label: `Relative suboptimality against ${axis.label} on ${board.dataset}, ${found.length} methods. Arrow keys read out values.`,
  });
}

// What each method minimises, and why some have no curve.
function objectivesOf(board) {
  const without = board.rows.filter((row) => row.suboptimality && !row.curve?.suboptimality);
  return [
    h("dl", { class: "facts objectives" }, board.objectives.map(({ sign, text, minimum, methods: own }) => h("div", { class: "long" },
      h("dt", null, sign === "F" ? "Objective" : `Objective ${sign}`),
      h("dd", null, h("code", null, text), h("span", { class: "soft" }, `; minimum ${minimum}; ${list(own)}`))))),
    reading("Mean over the runs of how far the training objective is above its certified minimum, as a share of that minimum; lower and further left is better. ",
      "The y axis zooms to 1e−6. ", board.objectives.length > 1 ? "Each curve is relative to the certified minimum of that method's own objective: curves of different objectives show how fast each is solved, not which model is better." : ""),
    without.length ? h("ul", { class: "notes" }, without.map((row) => h("li", null, `${row.method}: ${row.suboptimality.reason}`))) : null,
  ];
}
