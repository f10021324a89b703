// How AUC grows with samples or seconds, on one board.

const AXES = {
  samples: { label: "samples seen", short: "samples", format: compact, of: (curve) => curve.samples },
  seconds: { label: "training time", short: "after", format: duration, of: (curve) => curve.seconds },
};

function curvesSection(board) {
  const rows = board.rows.filter((row) => row.curve);
  if (!rows.length) return section("curves", "Curves", h("p", null, "No curve was recorded on this board."));
  const without = board.rows.filter((row) => !row.curve).map((row) => row.method);
  return section("curves", "Curves",
    h("div", { class: "controls" },
      toggle("x axis", "x", [["samples", "samples"], ["seconds", "seconds"]]),
      toggle("Scale", "scale", [["log", "log"], ["linear", "linear"]]),
      toggle("y axis", "y", [["whole", "full", "From the first AUC on"], ["close", "zoom", "Around the final AUC of the methods shown"]]),
      live(["band", "hide"], () => h("label", { class: "check" }, h("input", {
        type: "checkbox", checked: banded(visible(rows)), "data-key": "band", onchange: (event) => set({ band: event.target.checked ? "1" : "0" }),
      }), " bands"), null)),
    live(["x", "scale", "y", "band", "hide"], () => curvesPicture(board, visible(rows))),
    legend(rows),
    reading(
      "Mean test AUC over the runs at common checkpoints; further up and further left is better. ",
      bandNote(),
      " They are drawn for all methods, or for the one under the pointer. Move over the picture, or use the arrow keys, for values.",
      known(board.target) ? ` The target of this board is an AUC of ${board.target_shown}: ${board.target_text}.` : "",
      without.length ? ` Without a curve: ${list(without)}.` : ""));
}

function banded(rows) {
  return state.band === "" ? rows.length <= 4 : state.band === "1";
}

function bandNote() {
  return notesOn("band")[0] ?? "Pale bands go around the mean over the runs.";
}

function curvesPicture(board, rows) {
  if (!rows.length) return h("p", { class: "empty" }, "All methods are hidden.");
  const axis = AXES[state.x] || AXES.samples;
  const order = new Map(board.rows.map((row, index) => [row.method, index]));
  const series = rows.map((row) => ({
    method: row.method, index: order.get(row.method), xs: axis.of(row.curve), ys: row.curve.auc, low: row.curve.low, high: row.curve.high,
  }));
  const [low, high] = heights(series);
  return lineplot({
    series, width: room(), height: room() > 700 ? 400 : 300, bands: banded(rows),
    x: { ...axis, kind: state.scale === "linear" ? "linear" : "log" },
    y: { low, high, label: "test AUC", format: (value) => fixed(value, 4) },
    label: `Test AUC against ${axis.label} on ${board.label}, ${rows.length} methods. Arrow keys read out values.`,
  });
}

function heights(series) {
  const ends = series.map((each) => each.ys.filter(known).pop()).filter(known);
  const all = series.flatMap((each) => [...each.ys, ...(each.low || []), ...(each.high || [])]).filter(known);
  if (!all.length) return [0.5, 1];
  if (state.y !== "close") return padded(Math.min(...all), Math.max(...all));
  const sorted = [...ends].sort((a, b) => a - b);
  const spread = Math.max(sorted[sorted.length - 1] - quantile(sorted, 0.25), 0.005);
  return padded(quantile(sorted, 0.25) - spread, Math.max(sorted[sorted.length - 1] + spread / 2, sorted[sorted.length - 1] + 0.002));
}

function padded(low, high) {
  const more = (high - low || 0.02) * 0.03;
  return [Math.max(0, low - more), Math.min(1, high + more)];
}
