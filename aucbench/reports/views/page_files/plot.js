// Pictures: scales, lines of several methods, the readout at the pointer, and emphasised methods.

// `spacing`: least distance of ticks in pixels.
function linearScale(low, high, start, end, spacing = end < start ? 48 : 70) {
  const span = high - low || 1;
  const ticksOf = (step) => {
    const values = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) values.push(Number((k * step).toPrecision(12)));
    return values;
  };
  const cap = Math.max(2, Math.abs(end - start) / spacing);
  const ticks = [cap, 1.5 * cap, 2.5 * cap, 5 * cap].map((count) => ticksOf(niceStep(span, count))).find((values) => values.length > 1) ?? ticksOf(span);
  return { at: (value) => start + ((value - low) / span) * (end - start), value: (pixel) => low + ((pixel - start) / (end - start)) * span, ticks };
}

function niceStep(span, count) {
  const rawStep = span / count;
  const power = 10 ** Math.floor(Math.log10(rawStep));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rawStep * 0.999);
}

function logScale(low, high, start, end) {
  const [a, b] = [Math.log10(low), Math.log10(high > low ? high : low * 10)];
  const decades = b - a;
  const cap = Math.abs(end - start) / (end < start ? 22 : 52); // largest number of ticks without overlap
  const factors = decades < 1.5 && decades * 4 < cap ? [1, 2, 3, 5] : decades < 3 && decades * 2 < cap ? [1, 3] : [1];
  const stride = Math.max(1, Math.ceil(decades / Math.max(2, Math.abs(end - start) / 70)));
  const ticks = [];
  for (let power = Math.floor(a); power <= Math.ceil(b); power += 1) {
    for (const factor of factors) {
      const tick = Number((factor * 10 ** power).toPrecision(6));
      if (tick >= low * 0.999 && tick <= high * 1.001 && (factors.length > 1 || power % stride === 0)) ticks.push(tick);
    }
  }
  return {
    at: (value) => start + ((Math.log10(value) - a) / (b - a)) * (end - start),
    value: (pixel) => 10 ** (a + ((pixel - start) / (end - start)) * (b - a)),
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

let emphasisedMethod = null;

function emphasise(method) {
  if (method === emphasisedMethod) return;
  emphasisedMethod = method;
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
for (const [name, isOver] of [["pointerover", true], ["focusin", true], ["pointerleave", false], ["focusout", false]]) {
  document.getElementById("view").addEventListener(name, (event) => {
    if (!isOver) emphasise(null);
    else if (!event.target.closest?.(".plotbox")) emphasise(event.target.closest?.("[data-method]")?.dataset.method ?? null);
  });
}

// Lines of several methods in one picture, with bands, markers, names at the ends and a readout.
// series: {method, xs, ys, low, high}, where the methods of `highlights` have colours; the picture follows the pointer and the arrow keys.

function lineplot({ series, highlights, x, y, label, height, width }) {
  const isWide = width > 700;
  const fullHeight = Math.max(height, isWide ? highlights.size * 13 + 70 : 0);
  const pad = { top: 26, right: isWide ? 150 : 12, bottom: fullHeight - 46, left: 52 };
  const xs = series.flatMap((curve) => curve.xs).filter((value) => value > 0);
  const xScale = logScale(Math.min(...xs), Math.max(...xs), pad.left, width - pad.right);
  const yScale = (y.kind === "log" ? logScale : linearScale)(y.low, y.high, pad.bottom, pad.top);
  const clip = `clip-${(lineplot.count = (lineplot.count || 0) + 1)}`;
  const lines = series.map((curve, index) => lineOf({ ...curve, index }, xScale, yScale));
  const groups = [...lines].sort((a, b) => highlights.has(a.method) - highlights.has(b.method)).map((line) => oneLine(line, highlights.has(line.method)));
  const cursor = s("path", { class: "cursor", d: "" });
  const svg = s("svg", { class: "plot", width, height: fullHeight, viewBox: `0 0 ${width} ${fullHeight}`, role: "img", tabindex: 0, "aria-label": label },
    s("clipPath", { id: clip }, s("rect", { x: pad.left, y: pad.top - 6, width: Math.max(0, width - pad.right - pad.left + 4), height: pad.bottom - pad.top + 8 })),
    bottomAxis(xScale, { ...pad, right: width - pad.right, label: x.label, format: x.format }),
    leftAxis(yScale, { top: pad.top, left: pad.left, right: width - pad.right, label: y.label, format: y.tick || decimals(yScale) }),
    s("g", { "clip-path": `url(#${clip})` }, groups), cursor,
    isWide ? endNames(lines.filter(({ method }) => highlights.has(method)), pad, width, fullHeight) : null);
  const box = h("div", { class: "plotbox" }, svg);
  readout({ box, svg, cursor, lines, highlights, pad, width, xScale, x, y });
  return box;
}

// The points of a line in the picture, with their indices in the data.
function lineOf(curve, xScale, yScale) {
  const points = [];
  curve.xs.forEach((value, k) => {
    if (!isKnown(curve.ys[k]) || !(value > 0) || !Number.isFinite(yScale.at(curve.ys[k]))) return;
    const low = isKnown(curve.low?.[k]) ? yScale.at(curve.low[k]) : null;
    const high = isKnown(curve.high?.[k]) ? yScale.at(curve.high[k]) : null;
    points.push({ k, x: xScale.at(value), y: yScale.at(curve.ys[k]), low, high });
  });
  return { ...curve, points, style: lookOf(curve.method) };
}

function oneLine(line, isColoured) {
  const { points, style } = line;
  const group = s("g", { class: isColoured ? "series" : "series rest", "data-method": line.method });
  if (!points.length) return group;
  const path = (vertices, name) => vertices.map((point) => `${point.x.toFixed(1)} ${point[name].toFixed(1)}`).join("L");
  const band = points.filter((point) => point.low !== null && point.high !== null);
  if (isColoured && band.length > 1) {
    group.append(s("path", { class: "band", d: `M${path(band, "low")}L${path([...band].reverse(), "high")}Z`, fill: style.colour }));
  }
  group.append(s("path", { class: "line", d: `M${path(points, "y")}`, stroke: style.colour, "stroke-dasharray": style.dash }));
  if (!isColoured) return group;
  let lastX = -Infinity;
  const shift = (line.index * 17) % 70;
  points.forEach((point, k) => {
    if (point.x - lastX < (lastX === -Infinity ? 0 : 90) || (lastX === -Infinity && point.x < points[0].x + shift && k < points.length - 1)) return;
    lastX = point.x;
    group.append(markerShape(style, Number(point.x.toFixed(1)), Number(point.y.toFixed(1)), 3));
  });
  return group;
}

// Names beside the ends of the lines, moved apart where they would overlap.
function endNames(lines, pad, width, height) {
  const ends = lines.filter((line) => line.points.length).map((line) => {
    const end = line.points[line.points.length - 1];
    return { ...line, x: end.x, anchor: Math.min(Math.max(end.y, pad.top), pad.bottom), y: Math.min(Math.max(end.y, pad.top), pad.bottom) };
  }).sort((a, b) => a.y - b.y);
  for (let k = 1; k < ends.length; k += 1) ends[k].y = Math.max(ends[k].y, ends[k - 1].y + 13);
  let bound = height - 8;
  for (let k = ends.length - 1; k >= 0; k -= 1) {
    ends[k].y = Math.min(ends[k].y, bound);
    bound = ends[k].y - 13;
  }
  const right = width - pad.right;
  return s("g", { class: "ends" }, ends.map((end) => s("g", {
    class: "end", "data-method": end.method, onpointerenter: () => emphasise(end.method), onpointerleave: () => emphasise(null),
  },
  s("path", { d: `M${end.x + 3} ${end.anchor}L${right + 10} ${end.anchor}L${right + 22} ${end.y}`, stroke: end.style.colour }),
  s("text", { x: right + 26, y: end.y + 4, fill: end.style.colour }, truncate(end.method, 19), s("title", null, end.method)))));
}

// The readout of a picture of lines at the position of the pointer or the arrow keys.

function readout({ box, svg, cursor, lines, highlights, pad, width, xScale, x, y }) {
  const note = h("div", { class: "readout", role: "status", hidden: true });
  let cursorX = null;
  box.append(note);

  const hide = () => {
    note.hidden = true;
    cursor.setAttribute("d", "");
    emphasise(null);
    cursorX = null;
  };

  // `choice` finds the emphasised method among the lines that have begun.
  const show = (pixel, choice) => {
    cursorX = Math.min(Math.max(pixel, pad.left), width - pad.right);
    const pairs = lines.map((line) => ({ line, point: lastPointBefore(line.points, cursorX + 0.5) })).filter(({ point }) => point);
    pairs.sort((a, b) => a.point.y - b.point.y);
    const method = choice(pairs);
    const rows = pairs.filter(({ line }) => highlights.has(line.method) || line.method === method);
    emphasise(method);
    cursor.setAttribute("d", `M${cursorX.toFixed(1)} ${pad.top}V${pad.bottom}`);
    note.hidden = false;
    note.replaceChildren(
      h("p", null, `${x.short} ${x.format(xScale.value(cursorX))}`),
      rows.length
        ? h("table", null, rows.map(({ line, point }) => h("tr", { class: line.method === method ? "near" : null },
          h("th", { scope: "row" }, swatch(line.method), truncate(line.method, 22)),
          h("td", null, y.format(line.ys[point.k])),
          h("td", { class: "soft" }, point.low === null ? "" : `${y.format(line.low[point.k])} – ${y.format(line.high[point.k])}`))))
        : h("p", null, "no line has begun"));
    note.style.left = `${cursorX > width / 2 ? Math.max(0, cursorX - note.offsetWidth - 14) : Math.min(cursorX + 14, Math.max(0, box.clientWidth - note.offsetWidth))}px`;
  };

  const follow = (event) => {
    const frame = svg.getBoundingClientRect();
    const pixel = event.clientX - frame.left;
    if (pixel > width - pad.right + 8) hide();
    else show(pixel, (pairs) => nearestMethod(pairs, event.clientY - frame.top));
  };
  svg.addEventListener("pointermove", follow);
  svg.addEventListener("pointerdown", follow);
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const turn = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step) {
      show((cursorX ?? pad.left) + (step * (width - pad.right - pad.left)) / 40, () => emphasisedMethod);
      event.preventDefault();
    } else if (turn) {
      show(cursorX ?? width - pad.right, (pairs) => neighbour(pairs.map(({ line }) => line.method), turn));
      event.preventDefault();
    } else if (event.key === "Escape") hide();
  });
}

function lastPointBefore(points, pixel) {
  return points.findLast(({ x }) => x <= pixel) ?? null;
}

function nearestMethod(pairs, pixel) {
  const gap = ({ point }) => Math.abs(point.y - pixel);
  return pairs.filter((pair) => gap(pair) < 14).sort((a, b) => gap(a) - gap(b))[0]?.line.method ?? null;
}

// The name before or after the emphasised name.
function neighbour(names, turn) {
  const index = names.indexOf(emphasisedMethod);
  if (index < 0) return names[turn > 0 ? 0 : names.length - 1] ?? null;
  return names[Math.min(Math.max(index + turn, 0), names.length - 1)];
}
