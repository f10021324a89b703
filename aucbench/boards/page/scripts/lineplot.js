// Lines of several methods in one picture, with bands, markers, names at the ends and a readout.
// series: {method, xs, ys, low, high}; the picture follows the pointer and the arrow keys.

function lineplot({ series, x, y, label, stepped, bands, height, width }) {
  const wide = width > 700;
  const most = Math.max(height, wide ? series.length * 13 + 70 : 0);
  const pad = { top: 26, right: wide ? 150 : 12, bottom: most - 46, left: 52 };
  const xScale = scaleOf(x.kind, series.flatMap((each) => each.xs), pad.left, width - pad.right);
  const yScale = linearScale(y.low, y.high, pad.bottom, pad.top);
  const clip = `clip-${(lineplot.made = (lineplot.made || 0) + 1)}`;
  const drawn = series.map((each) => placed(each, xScale, yScale));
  const groups = new Map();
  const lines = drawn.map((each) => {
    const group = oneLine(each, stepped, bands);
    groups.set(each.method, group);
    return group;
  });
  const cursor = s("path", { class: "cursor", d: "", hidden: true });
  const svg = s("svg", { class: "plot", width, height: most, viewBox: `0 0 ${width} ${most}`, role: "img", tabindex: 0, "aria-label": label },
    s("clipPath", { id: clip }, s("rect", { x: pad.left, y: pad.top - 6, width: Math.max(0, width - pad.right - pad.left + 4), height: pad.bottom - pad.top + 8 })),
    bottomAxis(xScale, { ...pad, right: width - pad.right, label: x.label, format: x.format }),
    leftAxis(yScale, { top: pad.top, left: pad.left, right: width - pad.right, label: y.label, format: y.tick || decimals(yScale) }),
    s("g", { "clip-path": `url(#${clip})` }, lines), cursor,
    wide ? endNames(drawn, groups, pad, width, most) : null);
  const box = h("div", { class: "plotbox" }, svg);
  readout({ box, svg, cursor, drawn, groups, pad, width, xScale, x, y, stepped });
  return box;
}

// Points in the picture, with where they come from.
function placed(each, xScale, yScale) {
  const points = [];
  each.xs.forEach((value, k) => {
    if (!known(value) || !known(each.ys[k]) || !xScale.fits(value)) return;
    const low = known(each.low?.[k]) ? yScale.at(each.low[k]) : null;
    const high = known(each.high?.[k]) ? yScale.at(each.high[k]) : null;
    points.push({ k, x: xScale.at(value), y: yScale.at(each.ys[k]), low, high });
  });
  return { ...each, points, style: lookOf(each.method) };
}

function oneLine(each, stepped, bands) {
  const { points, style } = each;
  const group = s("g", { class: "series", "data-method": each.method });
  if (!points.length) return group;
  const banded = points.filter((point) => point.low !== null && point.high !== null);
  if (banded.length > 1) {
    const d = `M${banded.map((p) => `${p.x.toFixed(1)} ${p.low.toFixed(1)}`).join("L")}L${[...banded].reverse().map((p) => `${p.x.toFixed(1)} ${p.high.toFixed(1)}`).join("L")}Z`;
    group.append(s("path", { class: bands ? "band" : "band quiet", d, fill: style.colour }));
  }
  const joined = points.map((p, k) => {
    if (k === 0) return `M${p.x.toFixed(1)} ${p.y.toFixed(1)}`;
    return stepped ? `H${p.x.toFixed(1)}V${p.y.toFixed(1)}` : `L${p.x.toFixed(1)} ${p.y.toFixed(1)}`;
  }).join("");
  group.append(s("path", { class: "line", d: joined, stroke: style.colour, "stroke-dasharray": style.dash }));
  let last = -Infinity;
  const shift = (each.index * 17) % 70;
  points.forEach((p, k) => {
    if (p.x - last < (last === -Infinity ? 0 : 90) || (last === -Infinity && p.x < points[0].x + shift && k < points.length - 1)) return;
    last = p.x;
    group.append(markerShape(style, Number(p.x.toFixed(1)), Number(p.y.toFixed(1)), 3));
  });
  return group;
}

// Names beside the ends of the lines, moved apart where they would overlap.
function endNames(drawn, groups, pad, width, height) {
  const ends = drawn.filter((each) => each.points.length).map((each) => {
    const end = each.points[each.points.length - 1];
    return { ...each, x: end.x, from: Math.min(Math.max(end.y, pad.top), pad.bottom), y: Math.min(Math.max(end.y, pad.top), pad.bottom) };
  }).sort((a, b) => a.y - b.y);
  for (let k = 1; k < ends.length; k += 1) ends[k].y = Math.max(ends[k].y, ends[k - 1].y + 13);
  let room = height - 8;
  for (let k = ends.length - 1; k >= 0; k -= 1) {
    ends[k].y = Math.min(ends[k].y, room);
    room = ends[k].y - 13;
  }
  const right = width - pad.right;
  return s("g", { class: "ends" }, ends.map((end) => s("g", {
    class: "end", onpointerenter: () => emphasised(groups, end.method), onpointerleave: () => emphasised(groups, null),
  },
  s("path", { d: `M${end.x + 3} ${end.from}L${right + 10} ${end.from}L${right + 22} ${end.y}`, stroke: end.style.colour }),
  s("text", { x: right + 26, y: end.y + 4, fill: end.style.colour }, short(end.method, 19), s("title", null, end.method)))));
}

function emphasised(groups, method) {
  for (const [name, group] of groups) {
    group.classList.toggle("dim", method !== null && groups.has(method) && name !== method);
    group.classList.toggle("bright", name === method);
  }
}
