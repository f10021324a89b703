// The final AUC of every run, method under method.

function stripsSection(board) {
  return section("runs", "Runs",
    live([], () => strips(board)),
    reading("Each dot is the final test AUC of one run; a box holds the middle half of at least five runs, its stroke is their median. ",
      "The thin line is the confidence interval of the mean, the diamond on it the mean. Best mean first."));
}

function strips(board) {
  const width = room();
  const left = width > 700 ? 170 : 108;
  const right = width - (width > 700 ? 130 : 14);
  const height = 24;
  const rows = [...board.rows].sort((a, b) => (b.auc.value ?? -1) - (a.auc.value ?? -1));
  const bottom = rows.length * height + 14;
  const values = rows.flatMap((row) => [...row.aucs, row.auc.value, row.auc.low, row.auc.high]).filter(known);
  if (!values.length) return h("p", { class: "empty" }, "No run has finished on this board.");
  const [low, high] = padded(Math.min(...values), Math.max(...values));
  const scale = linearScale(low, high, left + 6, right - 6);
  return s("svg", { class: "plot", width, height: bottom + 44, viewBox: `0 0 ${width} ${bottom + 44}`, role: "img", "aria-label": `Final test AUC of every run on ${board.label}` },
    bottomAxis(scale, { top: 4, bottom, left, right, label: "final test AUC", format: decimals(scale) }),
    rows.map((row, k) => strip(row, scale, k * height + 17, { left, right, width })));
}

function strip(row, scale, y, { left, right, width }) {
  const style = lookOf(row.method);
  const found = row.aucs.filter(known);
  const sorted = [...found].sort((a, b) => a - b);
  const lost = row.aucs.length - found.length;
  const trouble = row.shown.trouble || (lost ? `${lost} without a result` : "");
  const parts = [s("text", { x: left - 10, y: y + 4, "text-anchor": "end" }, short(row.method, width > 700 ? 24 : 14), s("title", null, row.method))];
  if (sorted.length >= 5) {
    const [q1, middle, q3] = [0.25, 0.5, 0.75].map((share) => scale.at(quantile(sorted, share)));
    parts.push(s("rect", { class: "box", x: q1, y: y - 8, width: Math.max(1, q3 - q1), height: 16, rx: 2, fill: style.colour, stroke: style.colour }),
      s("path", { d: `M${middle} ${y - 8}v16`, stroke: style.colour, "stroke-width": 2 }));
  }
  found.forEach((auc, k) => parts.push(s("circle", { class: "dot", cx: scale.at(auc).toFixed(1), cy: y + (((k * 7) % 11) - 5), r: 2.4, fill: style.colour })));
  if (known(row.auc.value)) {
    const at = scale.at(row.auc.value);
    if (known(row.auc.low) && known(row.auc.high)) parts.push(s("path", { class: "whisker", d: `M${scale.at(row.auc.low)} ${y}H${scale.at(row.auc.high)}` }));
    parts.push(s("path", { class: "mean", d: markerPath("diamond", at, y, 3) }, s("title", null, `mean ${row.shown.auc}`)));
  }
  const text = found.length ? trouble : trouble || "no result";
  if (text) {
    const beside = width > 700 || !found.length;
    if (beside) parts.push(s("text", { class: "trouble", x: found.length ? right + 8 : (left + right) / 2, y: y + 4, "text-anchor": found.length ? "start" : "middle" }, text));
  }
  return s("g", null, parts);
}
