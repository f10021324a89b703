// The report as Python wrote it, how its parts are found, and how a method looks everywhere.
// Names are never looked up in plain objects, which know "constructor".

const report = JSON.parse(document.getElementById("data").textContent);
const looks = new Map(Object.entries(report.looks));
const methods = new Map(Object.entries(report.methods));
const algorithms = new Map(); // label of a method to the name of its plugin
const { groups } = report; // of boards that are ranked together: tuned and untuned ones never are
const boards = groups.flatMap((group) => group.boards);

for (const group of groups) {
  group.places = new Map(Object.entries(group.places));
  for (const board of group.boards) {
    board.group = group;
    for (const row of board.rows) {
      row.board = board;
      algorithms.set(row.method, row.algorithm);
    }
  }
}

// What a heading adds where there are several groups.
function besides(group) {
  return groups.length > 1 && group ? `, ${group.title}` : "";
}

function boardOf(slug) {
  return boards.find((board) => board.slug === slug) || null;
}

function methodNames() {
  return [...new Set([...methods.keys(), ...algorithms.values()])].sort(naturally);
}

function known(value) {
  return typeof value === "number" && Number.isFinite(value);
}

// Names by their numbers: data2 before data10.
const naturally = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;

// Numbers of axes and readouts.

function fixed(value, digits) {
  return value.toFixed(digits);
}

function inUnits(value, units) {
  const [size, unit] = units.find(([least]) => Math.abs(value) >= least * 0.9999) ?? units[units.length - 1];
  return `${Number((value / size).toPrecision(3))}${unit}`;
}

function compact(value) {
  return inUnits(value, [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]]);
}

function duration(seconds) {
  return seconds === 0 ? "0 s" : inUnits(seconds, [[3600, " h"], [60, " min"], [1, " s"], [1e-3, " ms"], [1e-6, " µs"], [1e-9, " ns"]]);
}

function percent(share) {
  return `${Number((100 * share).toPrecision(3))} %`;
}

function tidy(value) {
  const size = Math.abs(value);
  return value !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(0).replace("e-", "e−").replace("e+", "e") : String(Number(value.toPrecision(3)));
}

// A method looks the same everywhere: one colour, and a dash pattern and a marker for those who cannot tell colours.

const DASHES = { solid: null, dashed: "10 4", dotted: "2 3", dashdot: "10 3 2 3", short: "5 3", dashdotdot: "9 3 2 3 2 3" };
const UNKNOWN = { light: "#555555", dark: "#aaaaaa", marker: "circle", dashes: "solid" };

function lookOf(method) {
  const own = looks.get(method) ?? UNKNOWN;
  return { colour: document.documentElement.dataset.theme === "dark" ? own.dark : own.light, marker: own.marker, dash: DASHES[own.dashes] };
}

function markerPath(marker, x, y, size) {
  const r = size;
  if (marker === "square") return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
  if (marker === "up") return `M${x} ${y - r * 1.2}l${r * 1.2} ${r * 2.1}h${-2.4 * r}z`;
  if (marker === "down") return `M${x} ${y + r * 1.2}l${r * 1.2} ${-2.1 * r}h${-2.4 * r}z`;
  if (marker === "diamond") return `M${x} ${y - r * 1.4}l${r * 1.3} ${r * 1.4}l${-1.3 * r} ${r * 1.4}l${-1.3 * r} ${-1.4 * r}z`;
  if (marker === "cross") return `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x + r} ${y - r}l${-2 * r} ${2 * r}`;
  if (marker === "plus") return `M${x - 1.3 * r} ${y}h${2.6 * r}M${x} ${y - 1.3 * r}v${2.6 * r}`;
  if (marker === "star") return `M${[...Array(10).keys()].map((k) => {
    const [far, turn] = [(k % 2 ? 0.62 : 1.5) * r, (Math.PI * k) / 5];
    return `${(x + far * Math.sin(turn)).toFixed(2)} ${(y - far * Math.cos(turn)).toFixed(2)}`;
  }).join("L")}z`;
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}

function markerShape(style, x, y, size) {
  const cross = ["cross", "plus"].includes(style.marker);
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
  return h("a", { go: { view: "data", id: board.slug }, title: board.setting }, board.dataset);
}
