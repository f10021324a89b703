// A method looks the same everywhere: one colour, and a dash pattern and a marker for those who cannot tell colours.

const DASHES = { solid: null, dashed: "10 4", dotted: "2 3", dashdot: "10 3 2 3", short: "5 3" };
const UNKNOWN = { colour: "#555555", marker: "circle", dashes: "solid" };
const seenColours = new Map(); // by theme

function lookOf(method) {
  const own = looks.get(method) ?? UNKNOWN;
  const base = /^#[0-9a-f]{6}$/i.test(own.colour) ? own.colour : UNKNOWN.colour;
  const dark = document.documentElement.dataset.theme === "dark";
  const key = `${dark} ${base}`;
  if (!seenColours.has(key)) seenColours.set(key, legible(base, dark));
  return { colour: seenColours.get(key), marker: own.marker, dash: DASHES[own.dashes] };
}

// The same hue, moved towards the ink until it stands out from the paper.
function legible(colour, dark) {
  const ink = dark ? 255 : 0;
  const paper = dark ? 0.01 : 0.97;
  let parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  for (let step = 0; step < 12 && contrast(luminance(parts), paper) < 3; step += 1) {
    parts = parts.map((part) => part + (ink - part) * 0.12);
  }
  return `rgb(${parts.map(Math.round).join(" ")})`;
}

function luminance(parts) {
  const [r, g, b] = parts.map((part) => (part <= 10 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one, other) {
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

function markerPath(marker, x, y, size) {
  const r = size;
  if (marker === "square") return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
  if (marker === "up") return `M${x} ${y - r * 1.2}l${r * 1.2} ${r * 2.1}h${-2.4 * r}z`;
  if (marker === "down") return `M${x} ${y + r * 1.2}l${r * 1.2} ${-2.1 * r}h${-2.4 * r}z`;
  if (marker === "diamond") return `M${x} ${y - r * 1.4}l${r * 1.3} ${r * 1.4}l${-1.3 * r} ${r * 1.4}l${-1.3 * r} ${-1.4 * r}z`;
  if (marker === "cross") return `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x + r} ${y - r}l${-2 * r} ${2 * r}`;
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}

function markerShape(style, x, y, size) {
  const cross = style.marker === "cross";
  return s("path", { d: markerPath(style.marker, x, y, size), fill: cross ? "none" : style.colour, stroke: style.colour, "stroke-width": cross ? 1.8 : 0.8 });
}

// A piece of the method's line, as it runs in the curves.
function swatch(method) {
  const style = lookOf(method);
  return s("svg", { class: "swatch", width: 36, height: 12, viewBox: "0 0 36 12", "aria-hidden": "true" },
    s("path", { d: "M0 6h36", stroke: style.colour, "stroke-width": 2, "stroke-dasharray": style.dash, fill: "none" }),
    markerShape(style, 18, 6, 3.2));
}

function methodLink(method) {
  const name = algorithms.get(method) ?? method;
  return h("a", { class: "method", go: { view: "methods", id: name } }, swatch(method), h("span", null, method));
}

function boardLink(board) {
  return h("a", { go: { view: "data", id: String(board.number) }, title: board.setting }, board.label);
}
