// From values to places, and the ticks between.

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
