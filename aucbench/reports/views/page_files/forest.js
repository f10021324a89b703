// The forest plot as a table: gains with their intervals over the band of equivalence, one line per method.

// The range of most values; outliers, which would squeeze the scale, are drawn at the edge.
function bulk(low, high = low) {
  const quantile = (values, share) => values[Math.round(share * (values.length - 1))];
  const [a, b] = [low, high].map((values) => values.filter(known).sort((one, other) => one - other));
  if (!a.length) return [0, 1];
  const reach = (values) => 3 * (quantile(values, 0.75) - quantile(values, 0.25));
  const [least, most] = [quantile(a, 0.25) - reach(a), quantile(b, 0.75) + reach(b)];
  return [a.find((value) => value >= least), b.findLast((value) => value <= most)];
}

function gainScale(rows, left, right) {
  const rope = comparison().rope ?? 0;
  const [low, high] = bulk(rows.map((row) => row.low ?? row.gain), rows.map((row) => row.high ?? row.gain));
  const least = 2 * rope || 1e-4;
  return linearScale(Math.min(low, -least), Math.max(high, least), left, right, 68); // a label at an edge is moved towards its neighbour
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
  const [least, most] = [PAD, width - PAD];
  const inside = (value) => Math.min(Math.max(scale.at(value), least), most).toFixed(1);
  const colour = verdictColour(row.verdict);
  const middle = height / 2;
  const isAway = (value) => scale.at(value) < least - 1 || scale.at(value) > most + 1;
  const arrow = (value, size) => {
    const [edge, turn] = scale.at(value) < least ? [least, -1] : [most, 1];
    return s("path", { d: `M${edge + turn * 6} ${middle}l${-turn * 1.5 * size} ${-size}v${2 * size}z`, fill: colour });
  };
  const bounds = known(row.low) && known(row.high);
  return s("svg", { class: "plot forest", width, height, "aria-hidden": "true" },
    known(rope) ? s("rect", { class: "rope", x: inside(-rope), y: 0, width: inside(rope) - inside(-rope), height }) : null,
    s("path", { class: "zero", d: `M${inside(0)} 0V${height}` }),
    bounds ? s("path", { d: `M${inside(row.low)} ${middle}H${inside(row.high)}`, stroke: colour, "stroke-width": 2.4 }) : null,
    bounds ? [row.low, row.high].filter(isAway).map((value) => arrow(value, 4)) : null,
    known(row.gain) ? (isAway(row.gain) ? arrow(row.gain, 6) : s("circle", { cx: inside(row.gain), cy: middle, r: 4, fill: colour })) : null,
    row.method === reference() && !known(row.gain) ? s("path", { class: "reference", d: markerPath("diamond", Number(inside(0)), middle, 4.5) }) : null);
}

function shares(row) {
  if (!known(row.same)) return "–";
  const parts = [["worse", row.worse], ["equivalent", row.same], ["better", row.better]];
  const [worse, same, better] = parts.map(([, share]) => FORMS.percent(share));
  return h("span", { class: "shares", title: `worse on ${worse} of the families, the same on ${same}, better on ${better}` },
    h("span", { class: "bar", "aria-hidden": "true" }, parts.map(([verdict, share]) => h("span", { vars: { "--own": verdictColour(verdict), "--share": share } }))),
    h("span", { class: "parts" }, parts.map(([, share]) => String(Math.round(100 * share))).join(" / ")));
}

function verdictCell(row) {
  if (row.method && row.method === reference()) return h("span", { class: "soft" }, "reference");
  const words_ = `${many(row.more_families ?? 0, "family")} more would decide`;
  const more = known(row.more_families) ? h("span", { class: "soft more", title: words_ }, `+${many(row.more_families, "family")}`) : null;
  return [chip(row.verdict), row.verdict === "undecided" ? more : null];
}

const isNarrow = () => room() < 760;

// Columns of a forest plot after the first: the picture, and beside or below it the numbers and the verdict.
function forestColumns(rows, table = "verdicts", size = 270) {
  const narrow = isNarrow();
  const width = narrow ? Math.max(120, Math.min(260, room() - 130)) : size;
  const scale = gainScale(rows, PAD, width - PAD);
  const gain = columnOf(table, "gain");
  const text = (row) => (known(row.gain) ? shown(columns.verdicts.get("gain"), row) : row.method === reference() ? "reference" : "–");
  const picture = {
    ...gain, isText: false, kind: "forest", order: (row) => row.gain, above: gainAxis(scale, width), low: "low", high: "high",
    cell: (row) => [whisker(row, scale, width, narrow ? 20 : 24), narrow ? h("span", { class: "below" }, text(row)) : h("span", { class: "sr" }, text(row))],
  };
  const numbers = { name: "gain_text", heading: "95 % interval", hint: gain.hint, isText: false, order: (row) => row.gain, cell: text, descending: true };
  return narrow ? [picture] : [picture, numbers, columnOf("verdicts", "verdict", { cell: verdictCell })];
}
