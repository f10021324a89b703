// Pictures of the overview: gain against imbalance, mean against cost, methods by data sets.

const rareShare = (record) => (isKnown(record?.positive_share) ? Math.min(record.positive_share, 1 - record.positive_share) : null);

// A point per data set: the gain of a method over the reference against the share of the rare class.
function gainByShare(method, width, height = 320) {
  const points = gains({ method }).filter((row) => inGroup(row.data_set))
    .map((row) => ({ ...row, share: rareShare(setting().data_sets.get(row.data_set)) })).filter(({ share }) => share > 0);
  if (!points.length) return h("p", { class: "empty" }, method === reference() ? "This method is the reference." : "This method has no gains.");
  const pad = { top: 26, bottom: height - 46, left: 60, right: width - 14 };
  const xs = points.map(({ share }) => share);
  const x = logScale(Math.min(...xs) / 1.15, 0.55, pad.left, pad.right);
  const y = gainScale(points, pad.bottom, pad.top);
  const rope = comparison().rope;
  const yOf = (value) => Math.min(Math.max(y.at(value), pad.top), pad.bottom).toFixed(1);
  return s("svg", { class: "plot", width, height, role: "group", "aria-label": `Gain of ${method} over ${reference()} against the share of the rare class` },
    isKnown(rope) ? s("rect", { class: "rope", x: pad.left, y: yOf(rope), width: pad.right - pad.left, height: yOf(-rope) - yOf(rope) }) : null,
    bottomAxis(x, { ...pad, label: "share of the rare class", format: FORMS.percent }),
    leftAxis(y, { ...pad, label: `gain over ${truncate(reference(), 20)}`, format: decimals(y) }),
    s("path", { class: "zero", d: `M${pad.left} ${yOf(0)}H${pad.right}` }),
    points.map((row) => s("a", { go: { view: "data", id: row.data_set }, class: "point", "aria-label": `${row.data_set}: ${FORMS.signed(row.gain)}` },
      s("title", null, `${row.data_set}: ${cellText(schema.verdicts.get("gain"), row)}, rare class ${FORMS.percent(row.share)}`),
      isKnown(row.low) ? s("path", { class: "hair", stroke: verdictColour(row.verdict), d: `M${x.at(row.share).toFixed(1)} ${yOf(row.low)}V${yOf(row.high)}` }) : null,
      s("circle", { cx: x.at(row.share).toFixed(1), cy: yOf(row.gain), r: 4.5, fill: verdictColour(row.verdict) }))));
}

// A point per method; the line is the Pareto front.
function meanAgainstCost(rows, width, height = 320) {
  const points = rows.filter((row) => isKnown(row.mean) && row.time_ratio > 0);
  if (points.length < 2) return h("p", { class: "empty" }, "There are no comparable times.");
  const pad = { top: 26, bottom: height - 46, left: 56, right: width - 30 };
  const times = points.map((row) => row.time_ratio);
  const x = logScale(Math.min(...times) / 1.3, Math.max(...times) * 1.3, pad.left, pad.right);
  const [low, high] = bulk(points.map((row) => row.mean));
  const margin = (high - low) * 0.12 || 0.01;
  const y = linearScale(low - margin, high + margin, pad.bottom, pad.top);
  const clamp = (pixel) => Math.min(Math.max(pixel, pad.top + 4), pad.bottom - 4);
  const isAway = ({ mean }) => mean < low - margin || mean > high + margin;
  const marks = points.map((row) => ({ ...row, x: x.at(row.time_ratio), y: clamp(y.at(row.mean)) }));
  const front = marks.filter((mark) => mark.front).sort((a, b) => a.x - b.x);
  const d = front.map((mark, k) => (k ? `H${mark.x.toFixed(1)}V${mark.y.toFixed(1)}` : `M${mark.x.toFixed(1)} ${mark.y.toFixed(1)}`)).join("");
  const boxes = [];
  const label = (mark) => {
    const suffix = isAway(mark) ? ` ${mark.mean.toFixed(3)} ${mark.y < height / 2 ? "↑" : "↓"}` : "";
    const text = truncate(mark.method, 22) + suffix;
    const size = 6.6 * text.length + 10;
    const candidates = [-10, 18, -24, 32, -38, 46].flatMap((offset) => [1, -1].map((side) => ({ side, top: mark.y + offset, left: side > 0 ? mark.x : mark.x - size })));
    const overlaps = ({ top, left }) => boxes.some((box) => Math.abs(box.top - top) < 13 && box.left < left + size && left < box.right);
    const spot = candidates.find((box) => box.top > 10 && box.left > pad.left && box.left + size < width && !overlaps(box)) ?? candidates[0];
    boxes.push({ top: spot.top, left: spot.left, right: spot.left + size });
    return [s("path", { class: "hair", stroke: "var(--soft)", d: `M${mark.x} ${mark.y}L${mark.x + spot.side * 6} ${spot.top - 4}` }),
      s("text", { class: "name", x: mark.x + spot.side * 7, y: spot.top, "text-anchor": spot.side > 0 ? "start" : "end" }, text)];
  };
  return s("svg", { class: "plot", width, height, role: "group", "aria-label": `Mean ${measure().symbol} against training time` },
    bottomAxis(x, { ...pad, label: `training time over that of ${truncate(reference(), 20)}`, format: (value) => `${FORMS.number(value)}×` }),
    leftAxis(y, { ...pad, label: `mean ${measure().symbol}`, format: decimals(y) }),
    s("path", { class: "front", d }),
    marks.sort((a, b) => (a.front ?? 0) - (b.front ?? 0)).map((mark) => {
      const isNamed = mark.front || mark.method === reference();
      const attributes = { class: isNamed ? "point" : "point rest", "data-method": mark.method, "aria-label": `${mark.method}: ${mark.mean.toFixed(4)}` };
      return s("a", { go: { view: "methods", id: mark.method }, ...attributes },
        s("title", null, `${mark.method}: ${measure().symbol} ${mark.mean.toFixed(4)}, ${FORMS.number(mark.time_ratio)} times the time`),
        s("circle", { cx: mark.x.toFixed(1), cy: mark.y.toFixed(1), r: 9, fill: "transparent" }),
        markerShape(isNamed ? lookOf(mark.method) : { colour: "var(--rest)", marker: "circle" }, Number(mark.x.toFixed(1)), Number(mark.y.toFixed(1)), isNamed ? 4.5 : 3.5));
    }),
    s("g", { "aria-hidden": "true" }, marks.filter((mark) => mark.front || mark.method === reference()).map(label)));
}

// Methods by data sets, the rarest class first: gains in thousandths, or the measure itself.
function heatMap(rows) {
  const { data_sets: data, results } = setting();
  const names = [...data.keys()].filter(inGroup).sort((a, b) => (rareShare(data.get(a)) ?? 1) - (rareShare(data.get(b)) ?? 1));
  const isGain = state.heat === "gain";
  const cells = new Map((isGain ? gains() : results).map((row) => [`${row.method}\n${row.data_set}`, row]));
  const rope = comparison().rope ?? 0.005;
  const hasNumbers = names.length <= 26;
  const means = new Map();
  if (!isGain) results.forEach((row) => means.set(row.data_set, [...(means.get(row.data_set) ?? []), meanOf(row)].filter(isKnown)));
  const intensity = (value, name) => {
    if (!isGain) return means.get(name).filter((mean) => mean <= value).length / means.get(name).length;
    return Math.abs(value) > rope ? 0.15 + 0.85 * Math.min(1, Math.log2(Math.abs(value) / rope) / 4) : 0;
  };
  const cell = (method, name) => {
    const row = cells.get(`${method}\n${name}`);
    const value = row && (isGain ? row.gain : meanOf(row));
    const onclick = () => go({ view: "data", id: name, lit: [...state.lit.filter((item) => item !== method), method] });
    const tip = (text) => `${method} on ${name}: ${text}`;
    if (!isKnown(value)) return h("td", { title: tip(method === reference() ? "the reference" : "no value"), onclick });
    const text = isGain ? String(Math.round(1000 * value)).replace("-", "−") : value.toFixed(3).replace(/^0/, "");
    return h("td", {
      class: isGain && value > 0 ? "up" : "down", vars: { "--share": intensity(value, name) }, onclick,
      title: tip(isGain ? `${cellText(schema.verdicts.get("gain"), row)} ${row.verdict}` : value.toFixed(4)),
    }, hasNumbers ? text : "");
  };
  const kind = [isGain ? "signed" : "plain", hasNumbers ? "" : "dense"].join(" ");
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Methods by data sets" },
    h("table", { class: `matrix ${kind}`, vars: { "--cell": `${Math.max(11, Math.floor((room() - 150) / names.length))}px` } },
      h("thead", null, h("tr", null, h("td"), names.map((name) => h("th", { scope: "col", class: "upright" }, h("span", null, dataLink(name)))))),
      h("tbody", null, rows.map(({ method }) => h("tr", { "data-method": method }, h("th", { scope: "row" }, methodLink(method)),
        names.map((name) => cell(method, name)))))));
}
