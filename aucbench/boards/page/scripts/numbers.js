// Numbers as people read them. null is what is not known.

const thousands = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

function known(value) {
  return typeof value === "number" && Number.isFinite(value);
}

function fixed(value, digits) {
  return value.toFixed(digits);
}

// Three significant digits, without an exponent where it can be avoided.
function significant(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return thousands.format(value);
  if (size < 1e-4) return value.toExponential(1).replace("e-", "e−");
  return String(Number(value.toPrecision(3)));
}

function counted(value) {
  return thousands.format(value);
}

function compact(value) {
  const units = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [size, unit] of units) {
    if (Math.abs(value) >= size) return `${Number((value / size).toPrecision(3))}${unit}`;
  }
  return String(Number(value.toPrecision(3)));
}

function duration(seconds) {
  if (seconds === 0) return "0 s";
  const units = [[3600, "h"], [60, "min"], [1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
  const [size, unit] = units.find(([least]) => seconds >= least * 0.9999) || units[units.length - 1];
  return `${Number((seconds / size).toPrecision(3))} ${unit}`;
}

function bytes(value) {
  const units = [[1 << 30, "GiB"], [1 << 20, "MiB"], [1 << 10, "KiB"]];
  const found = units.find(([least]) => value >= least);
  return found ? `${Number((value / found[0]).toPrecision(3))} ${found[1]}` : `${Math.round(value)} B`;
}

function percent(share) {
  return `${Number((100 * share).toPrecision(3))} %`;
}

function chance(p) {
  return p < 0.001 ? "<.001" : fixed(p, 3).replace(/^0/, "");
}

function chanceText(p) {
  return p < 0.001 ? "p < 0.001" : `p = ${fixed(p, 3)}`;
}

function ordinal(place) {
  const ends = { one: "st", two: "nd", few: "rd", other: "th" };
  return `${place}${ends[new Intl.PluralRules("en", { type: "ordinal" }).select(place)]}`;
}

// Linear between neighbours; the values are sorted.
function quantile(sorted, share) {
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  return sorted[low] + (place - low) * (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]);
}

// Names by their numbers: data2 before data10.
const naturally = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;
