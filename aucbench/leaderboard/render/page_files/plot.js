// Pictures: from values to places, lines of several methods, what they say at the pointer, and which are shown.

// `apart`: least pixels between ticks.
function linearScale(low, high, from, to, apart = to < from ? 48 : 70) {
  const span = high - low || 1;
  const step = niceStep(span, Math.max(2, Math.abs(to - from) / apart));
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) ticks.push(Number((k * step).toPrecision(12)));
  return { at: (value) => from + ((value - low) / span) * (to - from), value: (at) => low + ((at - from) / (to - from)) * span, ticks, fits: () => true };
}

function niceStep(span, count) {
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((each) => each * power >= rough * 0.999);
  return factor * power;
}

function logScale(low, high, from, to) {
  const [a, b] = [Math.log10(low), Math.log10(high > low ? high : low * 10)];
  const decades = b - a;
  const factors = decades < 1.5 ? [1, 2, 3, 5] : decades < 3 ? [1, 3] : [1];
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
    ticks, fits: (value) => value > 0,
  };
}

// A scale around values: logarithmic only where all that counts is positive.
function scaleOf(kind, values, from, to) {
  const fit = values.filter((value) => known(value) && (kind !== "log" || value > 0));
  if (!fit.length) return linearScale(0, 1, from, to);
  const low = Math.min(...fit);
  const high = Math.max(...fit);
  return kind === "log" ? logScale(low, high, from, to) : linearScale(low, high, from, to);
}

// A picture with its role and a description for those who do not see it.
function picture(width, height, label, ...parts) {
  return s("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, parts);
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

// Numbers of an axis, with as many decimals as tell its ticks apart.
function decimals(scale) {
  const [a, b] = scale.ticks;
  const digits = b === undefined ? 3 : Math.min(6, Math.max(0, -Math.floor(Math.log10(b - a) + 1e-9)));
  return (value) => fixed(value, digits);
}

// Lines of several methods in one picture, with bands, markers, names at the ends and a readout.
// series: {method, xs, ys, low, high}; the picture follows the pointer and the arrow keys.

function lineplot({ series, x, y, label, stepped, bands, height, width, level }) {
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
    s("g", { "clip-path": `url(#${clip})` }, known(level) ? s("path", { class: "target", d: `M${pad.left} ${yScale.at(level)}H${width - pad.right}` }) : null, lines), cursor,
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

// What a picture of lines says at the place of the pointer, or of the arrow keys.

function readout({ box, svg, cursor, drawn, groups, pad, width, xScale, x, y }) {
  const note = h("div", { class: "readout", role: "status", hidden: true });
  let place = null;
  box.append(note);

  const hide = () => {
    note.hidden = true;
    cursor.setAttribute("d", "");
    emphasised(groups, null);
    place = null;
  };

  const show = (at, height) => {
    place = Math.min(Math.max(at, pad.left), width - pad.right);
    const found = drawn.map((each) => ({ each, point: lastBefore(each.points, place + 0.5) })).filter(({ point }) => point);
    found.sort((a, b) => b.each.ys[b.point.k] - a.each.ys[a.point.k]);
    const near = height === null ? null : nearest(found, height);
    emphasised(groups, near);
    cursor.setAttribute("d", `M${place.toFixed(1)} ${pad.top}V${pad.bottom}`);
    note.hidden = false;
    note.replaceChildren(
      h("p", null, `${x.short} ${x.format(xScale.value(place))}`),
      found.length
        ? h("table", null, found.map(({ each, point }) => h("tr", { class: each.method === near ? "near" : null },
          h("th", { scope: "row" }, swatch(each.method), short(each.method, 22)),
          h("td", null, y.format(each.ys[point.k])),
          h("td", { class: "soft" }, known(each.low?.[point.k]) && known(each.high?.[point.k]) ? `${y.format(each.low[point.k])} – ${y.format(each.high[point.k])}` : ""))))
        : h("p", null, "no line has begun"));
    note.style.left = `${aside(note.offsetWidth, box.clientWidth, found.length > 8)}px`;
  };

  // Beside the cursor; a long one at the other end of the picture, where it covers least.
  const aside = (own, whole, long) => {
    if (place > width / 2) return long ? pad.left + 8 : Math.max(0, place - own - 14);
    return long ? Math.max(0, whole - own) : Math.min(place + 14, Math.max(0, whole - own));
  };

  const follow = (event) => {
    const frame = svg.getBoundingClientRect();
    const at = event.clientX - frame.left;
    if (at > width - pad.right + 8) hide();
    else show(at, event.clientY - frame.top);
  };
  svg.addEventListener("pointermove", follow);
  svg.addEventListener("pointerdown", follow);
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      show((place ?? pad.left) + (step * (width - pad.right - pad.left)) / 40, null);
      event.preventDefault();
    } else if (event.key === "Escape") hide();
  });
}

function lastBefore(points, place) {
  let found = null;
  for (const point of points) {
    if (point.x > place) break;
    found = point;
  }
  return found;
}

function nearest(found, height) {
  let best = null;
  for (const { each, point } of found) {
    const away = Math.abs(point.y - height);
    if (away < 14 && (best === null || away < best.away)) best = { away, method: each.method };
  }
  return best?.method ?? null;
}

// Which methods a picture shows: a button for each, best first.

function legend(names) {
  const others = (kept) => [...state.hide.filter((name) => !names.includes(name)), ...names.filter((name) => !kept.includes(name))];
  return live(["hide"], () => [
    h("div", { class: "row" },
      h("button", { type: "button", "data-key": "show-all", onclick: () => set({ hide: others(names) }) }, "Show all"),
      names.length > 5 ? h("button", { type: "button", "data-key": "show-best", onclick: () => set({ hide: others(names.slice(0, 5)) }) }, "Best five") : null,
      h("button", { type: "button", "data-key": "show-none", onclick: () => set({ hide: others([]) }) }, "Hide all")),
    h("div", { class: "keys" }, names.map((name) => h("button", {
      type: "button", class: "key", "aria-pressed": String(!state.hide.includes(name)), "data-key": `key-${name}`,
      title: "Click to show or hide; with Shift, to show it alone",
      onclick: (event) => set({ hide: event.shiftKey ? others([name]) : toggled(state.hide, name) }),
    }, swatch(name), h("span", null, name)))),
  ], { class: "legend", role: "group", "aria-label": "Methods shown" });
}

function isVisible({ method }) {
  return !state.hide.includes(method);
}
