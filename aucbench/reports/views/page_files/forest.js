// The forest plot as a table: gains with their intervals over the band of equivalence, one per line.

// The range of most values; outliers, which would squeeze the scale, are drawn at the edge.
function bulk(lows, highs = lows) {
  const quantile = (values, share) => values[Math.round(share * (values.length - 1))];
  const [a, b] = [lows, highs].map((values) => values.filter(isKnown).sort((left, right) => left - right));
  if (!a.length) return [0, 1];
  const reach = (values) => 3 * (quantile(values, 0.75) - quantile(values, 0.25));
  const [lowFence, highFence] = [quantile(a, 0.25) - reach(a), quantile(b, 0.75) + reach(b)];
  return [a.find((value) => value >= lowFence), b.findLast((value) => value <= highFence)];
}

function gainScale(rows, left, right) {
  const rope = comparison().rope ?? 0;
  const [low, high] = bulk(rows.map((row) => row.low ?? row.gain), rows.map((row) => row.high ?? row.gain));
  const extent = 2 * rope || 1e-4;
  return linearScale(Math.min(low, -extent), Math.max(high, extent), left, right, 68); // a label at an edge is moved towards its neighbour
}

const PAD = 8; // pixels beside the scale

function gainAxis(scale, width) {
  const format = decimals(scale);
  return s("svg", { class: "plot", width, height: 20, "aria-hidden": "true" }, scale.ticks.map((tick) => s("text", {
    x: scale.at(tick), y: 15, "text-anchor": scale.at(tick) < 24 ? "start" : scale.at(tick) > width - 24 ? "end" : "middle",
  }, format(tick))));
}

function whisker(row, scale, width, height) {
  const rope = comparison().rope;
  const [left, right] = [PAD, width - PAD];
  const xOf = (value) => Math.min(Math.max(scale.at(value), left), right).toFixed(1);
  const colour = verdictColour(row.verdict);
  const middle = height / 2;
  const isAway = (value) => scale.at(value) < left - 1 || scale.at(value) > right + 1;
  const arrow = (value, size) => {
    const [edge, turn] = scale.at(value) < left ? [left, -1] : [right, 1];
    return s("path", { d: `M${edge + turn * 6} ${middle}l${-turn * 1.5 * size} ${-size}v${2 * size}z`, fill: colour });
  };
  const hasBounds = isKnown(row.low) && isKnown(row.high);
  return s("svg", { class: "plot forest", width, height, "aria-hidden": "true" },
    isKnown(rope) ? s("rect", { class: "rope", x: xOf(-rope), y: 0, width: xOf(rope) - xOf(-rope), height }) : null,
    s("path", { class: "zero", d: `M${xOf(0)} 0V${height}` }),
    hasBounds ? s("path", { d: `M${xOf(row.low)} ${middle}H${xOf(row.high)}`, stroke: colour, "stroke-width": 2.4 }) : null,
    hasBounds ? [row.low, row.high].filter(isAway).map((value) => arrow(value, 4)) : null,
    isKnown(row.gain) ? (isAway(row.gain) ? arrow(row.gain, 6) : s("circle", { cx: xOf(row.gain), cy: middle, r: 4, fill: colour })) : null,
    row.method === reference() && !isKnown(row.gain) ? s("path", { class: "reference", d: markerPath("diamond", Number(xOf(0)), middle, 4.5) }) : null);
}

function shares(row) {
  if (!isKnown(row.same)) return "–";
  const parts = [["worse", row.worse], ["equivalent", row.same], ["better", row.better]];
  const [worse, same, better] = parts.map(([, share]) => FORMS.percent(share));
  return h("span", { class: "shares", title: `worse on ${worse} of the families, the same on ${same}, better on ${better}` },
    h("span", { class: "bar", "aria-hidden": "true" }, parts.map(([verdict, share]) => h("span", { vars: { "--own": verdictColour(verdict), "--share": share } }))),
    h("span", { class: "parts" }, parts.map(([, share]) => String(Math.round(100 * share))).join(" / ")));
}

function verdictCell(row) {
  if (row.method && row.method === reference()) return h("span", { class: "soft" }, "reference");
  const title = `${countText(row.more_families ?? 0, "more family")} would decide the verdict`;
  const remark = isKnown(row.more_families) ? h("span", { class: "soft more", title }, `+${countText(row.more_families, "family")}`) : null;
  return [chip(row.verdict), row.verdict === "undecided" ? remark : null];
}

const isNarrow = () => room() < 760;

// Columns of a forest plot after the first: the picture, and beside or below it the numbers and the verdict.
function forestColumns(rows, table = "verdicts", size = 270) {
  const isCompact = isNarrow();
  const width = isCompact ? Math.max(120, Math.min(260, room() - 130)) : size;
  const scale = gainScale(rows, PAD, width - PAD);
  const column = columnOf(table, "gain");
  const text = (row) => (isKnown(row.gain) ? cellText(schema.verdicts.get("gain"), row) : row.method === reference() ? "reference" : "–");
  const picture = {
    ...column, isText: false, kind: "forest", order: (row) => row.gain, above: gainAxis(scale, width), low: "low", high: "high",
    cell: (row) => [whisker(row, scale, width, isCompact ? 20 : 24), isCompact ? h("span", { class: "below" }, text(row)) : h("span", { class: "sr" }, text(row))],
  };
  const numbers = { name: "gain_text", heading: "95 % interval", hint: column.hint, isText: false, order: (row) => row.gain, cell: text, descending: true };
  return isCompact ? [picture] : [picture, numbers, columnOf("verdicts", "verdict", { cell: verdictCell })];
}
