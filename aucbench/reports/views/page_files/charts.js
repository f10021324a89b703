// Pictures of the overview: gain against imbalance, mean against cost, methods by data sets.

const rare = (facts) => (known(facts?.positive_share) ? Math.min(facts.positive_share, 1 - facts.positive_share) : null);

// A point per data set: the gain of a method over the reference against the share of the rare class.
function gainByShare(method, width, height = 320) {
  const points = gains({ method }).filter((each) => inGroup(each.data_set))
    .map((each) => ({ ...each, share: rare(setting().data_sets.get(each.data_set)) })).filter(({ share }) => share > 0);
  if (!points.length) return h("p", { class: "empty" }, method === reference() ? "This method is the reference." : "There are no gains of this method.");
  const pad = { top: 26, bottom: height - 46, left: 60, right: width - 14 };
  const xs = points.map(({ share }) => share);
  const x = logScale(Math.min(...xs) / 1.15, 0.55, pad.left, pad.right);
  const y = gainScale(points, pad.bottom, pad.top);
  const rope = comparison().rope;
  const at = (value) => Math.min(Math.max(y.at(value), pad.top), pad.bottom).toFixed(1);
  return s("svg", { class: "plot", width, height, role: "group", "aria-label": `Gain of ${method} over ${reference()} against the share of the rare class` },
    known(rope) ? s("rect", { class: "rope", x: pad.left, y: at(rope), width: pad.right - pad.left, height: at(-rope) - at(rope) }) : null,
    bottomAxis(x, { ...pad, label: "share of the rare class", format: FORMS.percent }),
    leftAxis(y, { ...pad, label: `gain over ${short(reference(), 20)}`, format: decimals(y) }),
    s("path", { class: "zero", d: `M${pad.left} ${at(0)}H${pad.right}` }),
    points.map((each) => s("a", { go: { view: "data", id: each.data_set }, class: "point", "aria-label": `${each.data_set}: ${FORMS.signed(each.gain)}` },
      s("title", null, `${each.data_set}: ${shown(columns.verdicts.get("gain"), each)}, rare class ${FORMS.percent(each.share)}`),
      known(each.low) ? s("path", { class: "hair", stroke: verdictColour(each.verdict), d: `M${x.at(each.share).toFixed(1)} ${at(each.low)}V${at(each.high)}` }) : null,
      s("circle", { cx: x.at(each.share).toFixed(1), cy: at(each.gain), r: 4.5, fill: verdictColour(each.verdict) }))));
}

// A point per method; the line is the Pareto front.
function meanAgainstCost(rows, width, height = 320) {
  const points = rows.filter((row) => known(row.mean) && row.time_ratio > 0);
  if (points.length < 2) return h("p", { class: "empty" }, "There are no times that compare.");
  const pad = { top: 26, bottom: height - 46, left: 56, right: width - 30 };
  const times = points.map((row) => row.time_ratio);
  const x = logScale(Math.min(...times) / 1.3, Math.max(...times) * 1.3, pad.left, pad.right);
  const [low, high] = bulk(points.map((row) => row.mean));
  const margin = (high - low) * 0.12 || 0.01;
  const y = linearScale(low - margin, high + margin, pad.bottom, pad.top);
  const inside = (at) => Math.min(Math.max(at, pad.top + 4), pad.bottom - 4);
  const isAway = ({ mean }) => mean < low - margin || mean > high + margin;
  const placed = points.map((row) => ({ ...row, x: x.at(row.time_ratio), y: inside(y.at(row.mean)) }));
  const front = placed.filter((row) => row.front).sort((a, b) => a.x - b.x);
  const d = front.map((row, k) => (k ? `H${row.x.toFixed(1)}V${row.y.toFixed(1)}` : `M${row.x.toFixed(1)} ${row.y.toFixed(1)}`)).join("");
  const taken = [];
  const label = (row) => {
    const away = isAway(row) ? ` ${row.mean.toFixed(3)} ${row.y < height / 2 ? "↑" : "↓"}` : "";
    const text = short(row.method, 22) + away;
    const size = 6.6 * text.length + 10;
    const tried = [-10, 18, -24, 32, -38, 46].flatMap((down) => [1, -1].map((side) => ({ side, top: row.y + down, from: side > 0 ? row.x : row.x - size })));
    const meets = ({ top, from }) => taken.some((each) => Math.abs(each.top - top) < 13 && each.from < from + size && from < each.to);
    const found = tried.find((each) => each.top > 10 && each.from > pad.left && each.from + size < width && !meets(each)) ?? tried[0];
    taken.push({ top: found.top, from: found.from, to: found.from + size });
    return [s("path", { class: "hair", stroke: "var(--soft)", d: `M${row.x} ${row.y}L${row.x + found.side * 6} ${found.top - 4}` }),
      s("text", { class: "name", x: row.x + found.side * 7, y: found.top, "text-anchor": found.side > 0 ? "start" : "end" }, text)];
  };
  return s("svg", { class: "plot", width, height, role: "group", "aria-label": `Mean ${measure().symbol} against training time` },
    bottomAxis(x, { ...pad, label: `training time over that of ${short(reference(), 20)}`, format: (value) => `${FORMS.number(value)}×` }),
    leftAxis(y, { ...pad, label: `mean ${measure().symbol}`, format: decimals(y) }),
    s("path", { class: "front", d }),
    placed.sort((a, b) => (a.front ?? 0) - (b.front ?? 0)).map((row) => {
      const named = row.front || row.method === reference();
      const what = { class: named ? "point" : "point rest", "data-method": row.method, "aria-label": `${row.method}: ${row.mean.toFixed(4)}` };
      return s("a", { go: { view: "methods", id: row.method }, ...what },
        s("title", null, `${row.method}: ${measure().symbol} ${row.mean.toFixed(4)}, ${FORMS.number(row.time_ratio)} times the time`),
        s("circle", { cx: row.x.toFixed(1), cy: row.y.toFixed(1), r: 9, fill: "transparent" }),
        markerShape(named ? lookOf(row.method) : { colour: "var(--rest)", marker: "circle" }, Number(row.x.toFixed(1)), Number(row.y.toFixed(1)), named ? 4.5 : 3.5));
    }),
    s("g", { "aria-hidden": "true" }, placed.filter((row) => row.front || row.method === reference()).map(label)));
}

// Methods by data sets, the rarest class first: gains in thousandths, or the measure itself.
function heatMap(rows) {
  const { data_sets: facts, results } = setting();
  const names = [...facts.keys()].filter(inGroup).sort((a, b) => (rare(facts.get(a)) ?? 1) - (rare(facts.get(b)) ?? 1));
  const isGain = state.heat === "gain";
  const cells = new Map((isGain ? gains() : results).map((row) => [`${row.method}\n${row.data_set}`, row]));
  const rope = comparison().rope ?? 0.005;
  const numbered = names.length <= 26;
  const best = new Map();
  if (!isGain) results.forEach((row) => best.set(row.data_set, [...(best.get(row.data_set) ?? []), meanOf(row)].filter(known)));
  const size = (value, name) => {
    if (!isGain) return best.get(name).filter((each) => each <= value).length / best.get(name).length;
    return Math.abs(value) > rope ? 0.15 + 0.85 * Math.min(1, Math.log2(Math.abs(value) / rope) / 4) : 0;
  };
  const cell = (method, name) => {
    const row = cells.get(`${method}\n${name}`);
    const value = row && (isGain ? row.gain : meanOf(row));
    const onclick = () => go({ view: "data", id: name, lit: [...state.lit.filter((each) => each !== method), method] });
    const title = (text) => `${method} on ${name}: ${text}`;
    if (!known(value)) return h("td", { title: title(method === reference() ? "the reference" : "no value"), onclick });
    const text = isGain ? String(Math.round(1000 * value)).replace("-", "−") : value.toFixed(3).replace(/^0/, "");
    return h("td", {
      class: isGain && value > 0 ? "up" : "down", vars: { "--share": size(value, name) }, onclick,
      title: title(isGain ? `${shown(columns.verdicts.get("gain"), row)} ${row.verdict}` : value.toFixed(4)),
    }, numbered ? text : "");
  };
  const kind = [isGain ? "signed" : "plain", numbered ? "" : "dense"].join(" ");
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Methods by data sets" },
    h("table", { class: `matrix ${kind}`, vars: { "--cell": `${Math.max(11, Math.floor((room() - 150) / names.length))}px` } },
      h("thead", null, h("tr", null, h("td"), names.map((name) => h("th", { scope: "col", class: "upright" }, h("span", null, dataLink(name)))))),
      h("tbody", null, rows.map(({ method }) => h("tr", { "data-method": method }, h("th", { scope: "row" }, methodLink(method)),
        names.map((name) => cell(method, name)))))));
}
