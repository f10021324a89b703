// Tables that sort by any column; what is not known comes last in either direction. Columns and cells are Python's:
// a cell is its text, the number it is sorted by (null: by the text), and why there is nothing.

const NAMES = ["method", "data"];
const USUAL = report.row_columns.filter((column) => column.usual && !NAMES.includes(column.key)).map((column) => column.key);

function mark(sign, text) {
  return text ? h("abbr", { class: "mark", title: text, tabindex: 0, "aria-label": text }, sign) : null;
}

function nonlinear(row) {
  return row.linear ? "" : "not a linear model";
}

function exemption(names, reasons) {
  return reasons ? `${list(names)} ${names.length > 1 ? "are" : "is"} ${report.exempt}: ${reasons}` : "";
}

function badge(text, title) {
  return h("span", { class: "badge", title: title || null }, text);
}

// The cells that are more than their text. `item` is a row of a board, or a board.
const RENDERED = {
  method: (text, row) => [methodLink(text), mark("°", nonlinear(row)), mark("‡", exemption([row.method], row.exempt)), mark("§", row.edges)],
  data: (text, item) => boardLink(item.board ?? item),
  leader: (text) => methodLink(text),
  auc: (text, row) => (row.rows || known(row.auc.value) ? h("span", { title: String(row.cells.auc[1]) }, text) : badge(text, row.advice)),
  runs: (text, row) => (row.trouble ? badge(text, row.advice) : text),
  trouble: (text, board) => (board.cells.trouble[1] ? badge(text) : text),
  command: (text) => copyButton("Copy", text, text),
};
const WIDE = ["setting", "chosen", "edges", "parameters"];

function cellOf(column, item) {
  const [text, , reason] = item.cells[column.key];
  if (reason) return nothing(reason);
  return [(RENDERED[column.key] ?? String)(text, item), column.timed ? mark("†", item.timing_mark) : null];
}

function resultTable({ caption, columns, rows, usual, limit }) {
  const [column, direction] = sorting(columns, usual);
  const sorted = ordered(rows, column, direction);
  const shown = limit && sorted.length > limit && state.all === "" ? sorted.slice(0, limit) : sorted;
  const kind = (each) => `${each.left ? "txt" : "num"}${WIDE.includes(each.key) ? " wide" : ""}`;
  return [
    h("div", { class: shown.length > 40 ? "scroll tall" : "scroll", tabindex: 0, role: "region", "aria-label": caption },
      h("table", { class: "results" },
        h("caption", { class: "sr" }, caption),
        h("thead", null, h("tr", null, columns.map((each) => heading(each, column, direction)))),
        h("tbody", null, shown.map((row) => h("tr", { "data-method": row.method }, columns.map((each, index) => (index === 0
          ? h("th", { scope: "row", class: kind(each) }, cellOf(each, row)) : h("td", { class: kind(each) }, cellOf(each, row))))))))),
    shown.length < sorted.length
      ? h("p", null, `The first ${shown.length} of ${sorted.length} rows. `, h("button", { type: "button", "data-key": "all", onclick: () => set({ all: "1" }) }, "Show all rows"))
      : null,
  ];
}

function heading(column, sorted, direction) {
  const on = column === sorted;
  const arrow = h("span", { class: "arrow", "aria-hidden": "true" }, on ? (direction === "asc" ? "▲" : "▼") : "");
  const next = on ? (direction === "asc" ? "desc" : "asc") : column.descending ? "desc" : "asc";
  return h("th", { scope: "col", class: column.left ? "txt" : "num", "aria-sort": on ? `${direction}ending` : "none" },
    h("button", {
      type: "button", title: column.hint, "data-key": `sort-${column.key}`,
      onclick: () => set({ sort: (next === "desc" ? "-" : "") + column.key }),
    }, column.left ? [column.label, arrow] : [arrow, column.label]));
}

function sorting(columns, usual) {
  for (const wanted of [state.sort, usual]) {
    const found = columns.find((column) => column.key === wanted.replace(/^-/, ""));
    if (found) return [found, wanted.startsWith("-") ? "desc" : "asc"];
  }
  return [null, "asc"];
}

function ordered(rows, column, direction) {
  if (!column) return rows;
  const sign = direction === "asc" ? 1 : -1;
  const missing = ([text, order, reason]) => Boolean(reason) || (column.left ? text === "" : order === null);
  return [...rows].sort((one, other) => {
    const [a, b] = [one.cells[column.key], other.cells[column.key]];
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
    return sign * (column.left ? naturally(a[0], b[0]) : a[1] - b[1]);
  });
}

// The columns of a table of rows that starts with the given names.
function columnsShown(names) {
  const wanted = state.cols === "" ? USUAL : state.cols.split(".");
  const first = names.map((key) => report.row_columns.find((column) => column.key === key));
  return [...first, ...report.row_columns.filter((column) => !NAMES.includes(column.key) && wanted.includes(column.key))];
}

function columnChooser() {
  const choices = report.row_columns.filter((column) => !NAMES.includes(column.key));
  const shown = () => (state.cols === "" ? USUAL : state.cols.split("."));
  const change = (wanted) => set({ cols: wanted.join(".") === USUAL.join(".") ? "" : wanted.join(".") || "none" });
  const box = (column) => h("label", { title: column.hint },
    h("input", {
      type: "checkbox", checked: shown().includes(column.key), "data-key": `col-${column.key}`,
      onchange: () => change(choices.map((each) => each.key).filter((key) => (key === column.key) !== shown().includes(key))),
    }), " ", column.label);
  return h("details", { class: "chooser" }, h("summary", null, "Columns"),
    live(["cols"], () => [
      h("div", { class: "boxes" }, choices.map(box)),
      h("div", { class: "row" },
        h("button", { type: "button", "data-key": "col-all", onclick: () => change(choices.map((each) => each.key)) }, "All"),
        h("button", { type: "button", "data-key": "col-usual", onclick: () => change(USUAL) }, "Default")),
    ], { class: "panel" }));
}

// Rows of boards with the buttons above and the footnotes below them.
function rowTable(caption, names, rows, usual, { count, limit } = {}) {
  const columns = () => columnsShown(names);
  return [
    h("div", { class: "controls" }, count, columnChooser(), copyTable(columns, rows, usual),
      csvButton("results", () => rowsCsv(ordered(rows(), ...sorting(columns(), usual))))),
    live(["sort", "cols", "data", "method", "ds", "ms", "all"], () => (rows().length
      ? [resultTable({ caption, columns: columns(), rows: rows(), usual, limit }), footnotes(rows(), columns())]
      : h("p", { class: "empty" }, "No row fits the filters."))),
  ];
}

// Under a table: what its signs mean.
function footnotes(rows, columns) {
  const times = columns.some((each) => each.timed) ? gathered(rows, "†", (row) => row.timing_mark) : [];
  const found = [...times, ...gathered(rows, "°", nonlinear), ...gathered(rows, "‡", (row) => row.exempt, exemption), ...gathered(rows, "§", (row) => row.edges)];
  return found.length ? h("ul", { class: "footnotes" }, found) : null;
}

function gathered(rows, sign, text, says = (names, reason) => `${list(names)}: ${reason}`) {
  const by = new Map();
  for (const row of rows) {
    if (text(row)) by.set(text(row), [...(by.get(text(row)) || []), row.method]);
  }
  return [...by].map(([reason, names]) => {
    const who = [...new Set(names)].sort(naturally);
    const shown = who.length > 6 ? [...who.slice(0, 6), `${who.length - 6} more`] : who;
    return h("li", null, `${sign} ${says(shown, reason)}`);
  });
}

// The table as text: for spreadsheets and the like.
function copyTable(columns, rows, usual) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  return copyButton("Copy as CSV", () => {
    const shown = columns();
    const lines = ordered(rows(), ...sorting(shown, usual)).map((row) => shown.map(({ key }) => (row.cells[key][2] ? "" : row.cells[key][0])));
    return [shown.map((column) => column.label), ...lines].map((line) => `${line.map(quoted).join(",")}\n`).join("");
  }, "Copy the rows and columns that are shown, as comma-separated values");
}
