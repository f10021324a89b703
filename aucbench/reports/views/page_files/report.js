// The data of the report, the selected parts, and the formats of numbers and methods.
// Names are not looked up in plain objects, which have properties such as "constructor".

async function unpack() {
  await new Promise((resolve) => { setTimeout(resolve, 100); requestAnimationFrame(() => setTimeout(resolve)); }); // the head of the page is painted first
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

const report = await unpack();
const schema = Object.fromEntries(Object.entries(report.columns).map(([table, columns]) => [table, new Map(columns.map((column) => [column.name, column]))]));

// The rows of a frame with the given values in some columns.
function rowsOf(frame, criteria = {}) {
  const names = Object.keys(frame);
  const pairs = Object.entries(criteria);
  const rows = [];
  for (let k = 0; k < (frame[names[0]]?.length ?? 0); k += 1) {
    if (pairs.every(([name, value]) => frame[name][k] === value)) rows.push(Object.fromEntries(names.map((name) => [name, frame[name][k]])));
  }
  return rows;
}

for (const setting of report.settings) {
  setting.groups = new Map(Object.entries(setting.groups));
  setting.methods = new Map(rowsOf(setting.methods).map((row) => [row.method, row]));
  setting.data_sets = new Map(rowsOf(setting.data_sets).map((row) => [row.data_set, row]));
  setting.results = rowsOf(setting.results);
}

// The choice in the state, or the default if the choice is not available.
const NO_SETTING = { name: "", reference: "", answer: "", groups: new Map(), methods: new Map(), data_sets: new Map(), results: [], curves: {}, compared: [] };
const setting = () => report.settings.find(({ name }) => name === state.setting) ?? report.settings[0] ?? NO_SETTING;
const measureAt = () => Math.max(0, report.measures.findIndex(({ name }) => name === state.measure));
const measure = () => report.measures[measureAt()];
const group = () => (setting().groups.has(state.group) ? state.group : "all");
const comparison = () => setting().compared[measureAt()] ?? { rope: null, gains: {}, verdicts: {}, slopes: {} };
const references = () => [...new Set(comparison().verdicts.reference ?? [])].sort(compareTexts);
const reference = () => [state.ref, setting().reference].find((name) => references().includes(name)) ?? references()[0] ?? "";
const inGroup = (dataSet) => (setting().groups.get(group()) ?? []).includes(dataSet);

// Classes of model; methods of the chosen class are shown, and the reference.
const classOf = (method) => setting().methods.get(method)?.class_of_model ?? "";
const classes = () => [...new Set([...setting().methods.keys()].map(classOf))].sort();
const isShown = (method) => !classes().includes(state.model) || classOf(method) === state.model || method === reference();

// Verdicts on all methods, methods without gains last.
function verdicts(criteria = { group: group() }) {
  const rows = rowsOf(comparison().verdicts, { reference: reference(), ...criteria });
  if (criteria.method) return rows;
  const methods = [...setting().methods.keys()].filter((method) => !rows.some((row) => row.method === method));
  const emptyRow = (method) => ({ method, class_of_model: classOf(method), gain: null, low: null, high: null, verdict: "", mean: null, time_ratio: null, gaps: gapsOf(method) });
  return [...rows, ...methods.map(emptyRow)].filter(({ method }) => isShown(method));
}

const gapsOf = (method) => setting().results.filter((row) => row.method === method && row.gaps && inGroup(row.data_set)).length;
const gains = (criteria) => rowsOf(comparison().gains, { reference: reference(), ...criteria });
const meanOf = (row) => (measureAt() ? row[`${measure().name}_mean`] : row.mean);

// Numbers in the formats of Python's columns, by the names of these formats.

const isKnown = (value) => typeof value === "number" && Number.isFinite(value);
const compareTexts = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;

function inUnits(value, units) {
  const [size, unit] = units.find(([bound]) => Math.abs(value) >= bound) ?? units[units.length - 1];
  return `${Number((value / size).toPrecision(3))}${unit}`;
}

const FORMS = {
  text: (value) => String(value),
  fixed: (value, digits = 4) => value.toFixed(digits),
  signed: (value) => `${Number(value.toFixed(4)) < 0 ? "−" : "+"}${Math.abs(value).toFixed(4)}`,
  number: (value) => (Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)))),
  percent: (value) => `${Number((100 * value).toPrecision(3))} %`,
  whole: (value) => Math.round(value).toLocaleString("en"),
  duration: (value) => inUnits(value, [[86400, " d"], [3600, " h"], [60, " min"], [1, " s"], [1e-3, " ms"], [1e-6, " µs"], [1e-9, " ns"]]),
  nanoseconds: (value) => FORMS.duration(1e-9 * value),
  filesize: (value) => inUnits(value, [[1e9, " GB"], [1e6, " MB"], [1e3, " kB"], [1, " B"]]),
  tiny: (value) => value.toExponential(1),
  compact: (value) => inUnits(value, [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]]),
};

// A value of a row as its column shows it; a dash if there is no value.
function cellText(column, row) {
  const value = row[column.name];
  if (value === null || value === undefined || value === "") return "–";
  if (value === "never") return "never";
  const form = row[column.mark] ? (number) => `${FORMS[column.form](number)}*` : FORMS[column.form];
  const [low, high] = [row[column.low], row[column.high]];
  if (isKnown(low) && isKnown(high)) return `${form(value)} (${form(low)} to ${form(high)})`;
  const text = isKnown(row[column.spread]) ? `${form(value)} ± ${form(row[column.spread])}` : form(value);
  return row[column.note] ? `${text} (${row[column.note]})` : text;
}

const expand = (text) => text.replaceAll("{measure}", measure().symbol).replaceAll("{reference}", reference() || "the reference");

// A method looks the same everywhere: one colour, and a dash pattern and a marker for colour-blind readers.

const DASHES = { solid: null, dashed: "10 4", dotted: "2 3", dashdot: "10 3 2 3", short: "5 3", dashdotdot: "9 3 2 3 2 3" };
const isDark = () => document.documentElement.dataset.theme === "dark";

function lookOf(method) {
  const record = setting().methods.get(method);
  return { colour: (isDark() ? record?.dark : record?.colour) ?? "#777777", marker: record?.marker ?? "circle", dash: DASHES[record?.dashes] };
}

function verdictColour(verdict) {
  const [light, dark] = Object.hasOwn(report.colours, verdict) ? report.colours[verdict] : ["#767676", "#a8a8a8"];
  return isDark() ? dark : light;
}

function chip(verdict) {
  return verdict ? h("span", { class: "verdict", vars: { "--own": verdictColour(verdict) } }, verdict) : h("span", { class: "soft" }, "–");
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
    const [radius, angle] = [(k % 2 ? 0.62 : 1.5) * r, (Math.PI * k) / 5];
    return `${(x + radius * Math.sin(angle)).toFixed(2)} ${(y - radius * Math.cos(angle)).toFixed(2)}`;
  }).join("L")}z`;
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}

function markerShape(style, x, y, size) {
  const isCross = ["cross", "plus"].includes(style.marker);
  return s("path", { d: markerPath(style.marker, x, y, size), fill: isCross ? "none" : style.colour, stroke: style.colour, "stroke-width": isCross ? 1.8 : 0.8 });
}

// A sample of the method's line in the curves.
function swatch(method) {
  const style = lookOf(method);
  return s("svg", { class: "swatch", width: 30, height: 12, viewBox: "0 0 36 12", "aria-hidden": "true" },
    s("path", { d: "M0 6h36", stroke: style.colour, "stroke-width": 2, "stroke-dasharray": style.dash, fill: "none" }),
    markerShape(style, 18, 6, 3.2));
}

function methodLink(method) {
  return h("a", { class: "method", go: { view: "methods", id: method } }, swatch(method), h("span", null, method));
}

function dataLink(name) {
  return h("a", { go: { view: "data", id: name } }, name);
}
