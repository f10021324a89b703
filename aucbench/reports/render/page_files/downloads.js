// Tables as CSV with a number a column, and figures as SVG and PNG that stand alone. A button reads the section when it is clicked.

function saved(name, type, content) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = h("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function fileName(part, ending) {
  const words = ["aucbench", report.title, state.view, state.id, part].filter(Boolean).join("-");
  return `${words.normalize("NFKD").replace(/[^A-Za-z0-9.]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 120)}.${ending}`;
}

function saveButton(label, title, key, save) {
  return h("button", { type: "button", class: "save", title, "aria-label": title, "data-key": `save-${key}`, onclick: save }, label);
}

// Lines of values as CSV; a missing value is empty, a number has all its digits.
function asCsv(lines) {
  const text = (value) => (value === null || value === undefined || value === "–" ? "" : String(value));
  const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replace(/"/g, '""')}"` : value);
  return lines.map((line) => `${line.map((value) => quoted(text(value))).join(",")}\n`).join("");
}

// The fields of some columns, and their values on one line of a table.
function fieldsOf(columns) {
  return columns.flatMap((column) => column.fields);
}

function valuesOf(item, columns) {
  return columns.flatMap((column) => {
    const [text, order, reason, ...more] = item.cells[column.key];
    const first = column.left ? (reason ? "" : text) : order;
    const found = column.leads ? [first, ...more] : more;
    return column.fields.map((_, k) => found[k]);
  });
}

function rowsCsv(rows) {
  return asCsv([fieldsOf(report.row_columns), ...rows.map((row) => valuesOf(row, report.row_columns))]);
}

function csvButton(part, lines) {
  return saveButton("CSV", `Download the table (${part}) as CSV: every number in a column of its own, with all digits`, `csv-${part}`,
    () => saved(fileName(part, "csv"), "text/csv;charset=utf-8", lines()));
}

// Tables of sections that are not made of rows of boards, by the name of their section.
const TABLES = {
  ranking: () => {
    const { lines } = groupShown();
    return asCsv([["place", ...fieldsOf(report.method_columns)], ...lines.map((line) => [line.place, ...valuesOf(line, report.method_columns)])]);
  },
  glance: () => rowsCsv(groupShown().boards.flatMap((board) => board.rows)),
  pairs: () => {
    const board = state.view === "data" ? boardOf(state.id) : null;
    const { pairs } = board ?? groupShown();
    const names = (board ? board.rows : groupShown().lines).map(({ method }) => method);
    const lines = names.flatMap((one, k) => names.map((other, j) => [one, other, pairs[k]?.[j]?.[2], { "+": "better", "-": "worse" }[pairs[k]?.[j]?.[0]] ?? ""]));
    return asCsv([["method", "other", "p", "significantly"], ...lines.filter(([one, other]) => one !== other)]);
  },
};

// What a section offers below itself.
function saves(id, title, node) {
  const figures = () => [...node.querySelectorAll("svg.plot")].filter((each) => !each.closest("table"));
  const table = Object.hasOwn(TABLES, id) && node.querySelector("table") ? csvButton(id, TABLES[id]) : null;
  const drawn = figures().length ? [
    saveButton("SVG", `Download the figure ${title} as SVG`, `svg-${id}`, () => figures().length && saved(fileName(id, "svg"), "image/svg+xml", alone(node, figures(), title).text)),
    saveButton("PNG", `Download the figure ${title} as PNG`, `png-${id}`, () => figures().length && painted(alone(node, figures(), title), fileName(id, "png"))),
  ] : [];
  return table || drawn.length ? h("p", { class: "saves" }, h("span", null, "Download "), table, drawn) : null;
}

const INLINED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "paint-order",
  "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline"];

// A copy of a picture with the looks that the style sheet gives it.
function inlined(plot) {
  const copy = plot.cloneNode(true);
  const [from, to] = [[plot, ...plot.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((node, k) => {
    if (node.closest("defs, clipPath, title")) return;
    const style = getComputedStyle(node);
    for (const name of INLINED) {
      const value = style.getPropertyValue(name);
      if (value) to[k].setAttribute(name, value);
    }
    for (const name of ["class", "tabindex", "data-method"]) to[k].removeAttribute(name);
  });
  copy.querySelectorAll("[hidden]").forEach((each) => each.remove());
  return copy;
}

// The pictures of a section as one file: each at its place, with its caption, and the methods below.
function alone(node, plots, title) {
  const rects = plots.map((plot) => plot.getBoundingClientRect());
  const captions = [...node.querySelectorAll("h3, figcaption:not(.reading)")].filter((each) => each.offsetHeight).map((each) => [each.textContent, each.getBoundingClientRect()]);
  const all = [...rects, ...captions.map(([, rect]) => rect)];
  const [x, y] = [Math.min(...all.map(({ left }) => left)) - 12, Math.min(...all.map(({ top }) => top)) - 12];
  const width = Math.ceil(Math.max(...all.map(({ right }) => right)) - x + 12);
  const drawn = Math.ceil(Math.max(...all.map(({ bottom }) => bottom)) - y + 12);
  const named = [...new Set(plots.flatMap((plot) => [...plot.querySelectorAll(".series:not(.rest)")].map((each) => each.dataset.method)))];
  const across = Math.max(1, Math.floor((width - 24) / 170));
  const height = drawn + Math.ceil(named.length / across) * 18 + (named.length ? 10 : 0);
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink").trim();
  const words = { "font-family": getComputedStyle(document.body).fontFamily, "font-size": 12, fill: ink };
  const key = (name, k) => {
    const look = lookOf(name);
    const [left, middle] = [12 + (k % across) * 170, drawn + 8 + Math.floor(k / across) * 18];
    return s("g", null, s("path", { d: `M${left} ${middle}h36`, stroke: look.colour, "stroke-width": 2, "stroke-dasharray": look.dash, fill: "none" }),
      markerShape(look, left + 18, middle, 3.2), s("text", { ...words, x: left + 44, y: middle + 4 }, short(name, 18)));
  };
  const whole = s("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    s("title", null, `${title}, ${document.title}`),
    s("rect", { width, height, fill: style.getPropertyValue("--paper").trim() }),
    plots.map((plot, k) => {
      const copy = inlined(plot);
      Object.entries({ x: rects[k].left - x, y: rects[k].top - y, width: rects[k].width, height: rects[k].height }).forEach(([name, value]) => copy.setAttribute(name, value));
      return copy;
    }),
    captions.map(([text, rect]) => s("text", { ...words, x: rect.left - x, y: rect.top - y + 13 }, short(text, Math.max(8, Math.floor(rect.width / 7))))),
    named.map(key));
  return { text: new XMLSerializer().serializeToString(whole), width, height };
}

// As a PNG of twice as many points.
function painted({ text, width, height }, name) {
  const image = new Image();
  image.onload = () => {
    const canvas = h("canvas", { width: 2 * width, height: 2 * height });
    const context = canvas.getContext("2d");
    context.scale(2, 2);
    context.drawImage(image, 0, 0, width, height);
    canvas.toBlob((blob) => blob && saved(name, "image/png", blob), "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}
