// Pictures: scales, lines of several methods, the readout at the pointer, and emphasised methods.

// `apart`: least distance of ticks in pixels.
function linearScale(low, high, from, to, apart = to < from ? 48 : 70) {
  const span = high - low || 1;
  const ticksOf = (step) => {
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) found.push(Number((k * step).toPrecision(12)));
    return found;
  };
  const most = Math.max(2, Math.abs(to - from) / apart);
  const ticks = [most, 1.5 * most, 2.5 * most, 5 * most].map((count) => ticksOf(niceStep(span, count))).find((found) => found.length > 1) ?? ticksOf(span);
  return { at: (value) => from + ((value - low) / span) * (to - from), value: (at) => low + ((at - from) / (to - from)) * span, ticks };
}

function niceStep(span, count) {
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((each) => each * power >= rough * 0.999);
}

function logScale(low, high, from, to) {
  const [a, b] = [Math.log10(low), Math.log10(high > low ? high : low * 10)];
  const decades = b - a;
  const most = Math.abs(to - from) / (to < from ? 22 : 52); // largest number of ticks without overlap
  const factors = decades < 1.5 && decades * 4 < most ? [1, 2, 3, 5] : decades < 3 && decades * 2 < most ? [1, 3] : [1];
  const every = Math.max(1, Math.ceil(decades / Math.max(2, Math.abs(to - from) / 70)));
  const ticks = [];
  for (let power = Math.floor(a); power <= Math.ceil(b); power += 1) {
    for (const factor of factors) {
      const tick = Number((factor * 10 ** power).toPrecision(6));
      if (tick >= low * 0.999 && tick <= high * 1.001 && (factors.length > 1 || power % every === 0)) ticks.push(tick);
    }
  }
  return {
    at: (value) => from + ((Math.log10(value) - a) / (b - a)) * (to - from),
    value: (at) => 10 ** (a + ((at - from) / (to - from)) * (b - a)),
    ticks,
  };
}

function bottomAxis(scale, { top, bottom, left, right, label, format }) {
  return s("g", { class: "axis" },
    scale.ticks.map((tick) => s("path", { class: "grid", d: `M${scale.at(tick)} ${top}V${bottom}` })),
    s("path", { class: "base", d: `M${left} ${bottom}H${right}` }),
    scale.ticks.map((tick) => s("text", { x: scale.at(tick), y: bottom + 16, "text-anchor": "middle" }, format(tick))),
    label ? s("text", { class: "name", x: (left + right) / 2, y: bottom + 36, "text-anchor": "middle" }, label) : null);
}

function leftAxis(scale, { top, left, right, label, format }) {
  return s("g", { class: "axis" },
    scale.ticks.map((tick) => s("path", { class: "grid", d: `M${left} ${scale.at(tick)}H${right}` })),
    scale.ticks.map((tick) => s("text", { x: left - 7, y: scale.at(tick) + 4, "text-anchor": "end" }, format(tick))),
    s("text", { class: "name", x: 4, y: top - 8 }, label));
}

// Numbers of an axis, with enough decimals to distinguish its ticks.
function decimals(scale) {
  const [a, b] = scale.ticks;
  const digits = b === undefined ? 3 : Math.min(6, Math.max(0, -Math.floor(Math.log10(b - a) + 1e-9)));
  return (value) => value.toFixed(digits).replace("-", "−");
}

// Emphasises every mark of a method in pictures, legends and tables; null for no method.

let emphasised = null;

function emphasise(method) {
  if (method === emphasised) return;
  emphasised = method;
  const view = document.getElementById("view");
  view.querySelectorAll(".bright, .linked").forEach((node) => node.classList.remove("bright", "linked"));
  if (method === null) return;
  for (const node of view.querySelectorAll("[data-method]")) {
    if (node.dataset.method !== method) continue;
    node.classList.add("bright");
    node.closest(".plot")?.classList.add("linked");
  }
}

// Pictures of lines find the nearest method with their pointer events.
for (const [name, from] of [["pointerover", true], ["focusin", true], ["pointerleave", false], ["focusout", false]]) {
  document.getElementById("view").addEventListener(name, (event) => {
    if (!from) emphasise(null);
    else if (!event.target.closest?.(".plotbox")) emphasise(event.target.closest?.("[data-method]")?.dataset.method ?? null);
  });
}

// Lines of several methods in one picture, with bands, markers, names at the ends and a readout.
// series: {method, xs, ys, low, high}, where the methods of `lit` have colours; the picture follows the pointer and the arrow keys.

function lineplot({ series, lit, x, y, label, height, width }) {
  const wide = width > 700;
  const most = Math.max(height, wide ? lit.size * 13 + 70 : 0);
  const pad = { top: 26, right: wide ? 150 : 12, bottom: most - 46, left: 52 };
  const xs = series.flatMap((each) => each.xs).filter((value) => value > 0);
  const xScale = logScale(Math.min(...xs), Math.max(...xs), pad.left, width - pad.right);
  const yScale = (y.kind === "log" ? logScale : linearScale)(y.low, y.high, pad.bottom, pad.top);
  const clip = `clip-${(lineplot.made = (lineplot.made || 0) + 1)}`;
  const drawn = series.map((each, index) => placed({ ...each, index }, xScale, yScale));
  const lines = [...drawn].sort((a, b) => lit.has(a.method) - lit.has(b.method)).map((each) => oneLine(each, lit.has(each.method)));
  const cursor = s("path", { class: "cursor", d: "" });
  const svg = s("svg", { class: "plot", width, height: most, viewBox: `0 0 ${width} ${most}`, role: "img", tabindex: 0, "aria-label": label },
    s("clipPath", { id: clip }, s("rect", { x: pad.left, y: pad.top - 6, width: Math.max(0, width - pad.right - pad.left + 4), height: pad.bottom - pad.top + 8 })),
    bottomAxis(xScale, { ...pad, right: width - pad.right, label: x.label, format: x.format }),
    leftAxis(yScale, { top: pad.top, left: pad.left, right: width - pad.right, label: y.label, format: y.tick || decimals(yScale) }),
    s("g", { "clip-path": `url(#${clip})` }, lines), cursor,
    wide ? endNames(drawn.filter(({ method }) => lit.has(method)), pad, width, most) : null);
  const box = h("div", { class: "plotbox" }, svg);
  readout({ box, svg, cursor, drawn, lit, pad, width, xScale, x, y });
  return box;
}

// The points of a line in the picture, with their indices in the data.
function placed(each, xScale, yScale) {
  const points = [];
  each.xs.forEach((value, k) => {
    if (!known(each.ys[k]) || !(value > 0) || !Number.isFinite(yScale.at(each.ys[k]))) return;
    const low = known(each.low?.[k]) ? yScale.at(each.low[k]) : null;
    const high = known(each.high?.[k]) ? yScale.at(each.high[k]) : null;
    points.push({ k, x: xScale.at(value), y: yScale.at(each.ys[k]), low, high });
  });
  return { ...each, points, style: lookOf(each.method) };
}

function oneLine(each, coloured) {
  const { points, style } = each;
  const group = s("g", { class: coloured ? "series" : "series rest", "data-method": each.method });
  if (!points.length) return group;
  const path = (places, name) => places.map((p) => `${p.x.toFixed(1)} ${p[name].toFixed(1)}`).join("L");
  const banded = points.filter((point) => point.low !== null && point.high !== null);
  if (coloured && banded.length > 1) {
    group.append(s("path", { class: "band", d: `M${path(banded, "low")}L${path([...banded].reverse(), "high")}Z`, fill: style.colour }));
  }
  group.append(s("path", { class: "line", d: `M${path(points, "y")}`, stroke: style.colour, "stroke-dasharray": style.dash }));
  if (!coloured) return group;
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
function endNames(drawn, pad, width, height) {
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
    class: "end", "data-method": end.method, onpointerenter: () => emphasise(end.method), onpointerleave: () => emphasise(null),
  },
  s("path", { d: `M${end.x + 3} ${end.from}L${right + 10} ${end.from}L${right + 22} ${end.y}`, stroke: end.style.colour }),
  s("text", { x: right + 26, y: end.y + 4, fill: end.style.colour }, short(end.method, 19), s("title", null, end.method)))));
}

// The readout of a picture of lines at the position of the pointer or the arrow keys.

function readout({ box, svg, cursor, drawn, lit, pad, width, xScale, x, y }) {
  const note = h("div", { class: "readout", role: "status", hidden: true });
  let place = null;
  box.append(note);

  const hide = () => {
    note.hidden = true;
    cursor.setAttribute("d", "");
    emphasise(null);
    place = null;
  };

  // `choice` finds the emphasised method among the lines that have begun.
  const show = (at, choice) => {
    place = Math.min(Math.max(at, pad.left), width - pad.right);
    const begun = drawn.map((each) => ({ each, point: lastBefore(each.points, place + 0.5) })).filter(({ point }) => point);
    begun.sort((a, b) => a.point.y - b.point.y);
    const near = choice(begun);
    const found = begun.filter(({ each }) => lit.has(each.method) || each.method === near);
    emphasise(near);
    cursor.setAttribute("d", `M${place.toFixed(1)} ${pad.top}V${pad.bottom}`);
    note.hidden = false;
    note.replaceChildren(
      h("p", null, `${x.short} ${x.format(xScale.value(place))}`),
      found.length
        ? h("table", null, found.map(({ each, point }) => h("tr", { class: each.method === near ? "near" : null },
          h("th", { scope: "row" }, swatch(each.method), short(each.method, 22)),
          h("td", null, y.format(each.ys[point.k])),
          h("td", { class: "soft" }, point.low === null ? "" : `${y.format(each.low[point.k])} – ${y.format(each.high[point.k])}`))))
        : h("p", null, "no line has begun"));
    note.style.left = `${place > width / 2 ? Math.max(0, place - note.offsetWidth - 14) : Math.min(place + 14, Math.max(0, box.clientWidth - note.offsetWidth))}px`;
  };

  const follow = (event) => {
    const frame = svg.getBoundingClientRect();
    const at = event.clientX - frame.left;
    if (at > width - pad.right + 8) hide();
    else show(at, (begun) => nearest(begun, event.clientY - frame.top));
  };
  svg.addEventListener("pointermove", follow);
  svg.addEventListener("pointerdown", follow);
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const turn = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step) {
      show((place ?? pad.left) + (step * (width - pad.right - pad.left)) / 40, () => emphasised);
      event.preventDefault();
    } else if (turn) {
      show(place ?? width - pad.right, (begun) => beside(begun.map(({ each }) => each.method), turn));
      event.preventDefault();
    } else if (event.key === "Escape") hide();
  });
}

function lastBefore(points, place) {
  return points.findLast(({ x }) => x <= place) ?? null;
}

function nearest(found, height) {
  const away = ({ point }) => Math.abs(point.y - height);
  return found.filter((one) => away(one) < 14).sort((a, b) => away(a) - away(b))[0]?.each.method ?? null;
}

// The name before or after the emphasised name.
function beside(names, turn) {
  const at = names.indexOf(emphasised);
  if (at < 0) return names[turn > 0 ? 0 : names.length - 1] ?? null;
  return names[Math.min(Math.max(at + turn, 0), names.length - 1)];
}
