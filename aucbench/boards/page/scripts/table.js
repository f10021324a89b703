// Tables that sort by any column; what is not known comes last in either direction.

function resultTable({ caption, columns, rows, usual, limit }) {
  const [column, direction] = sorting(columns, usual);
  const sorted = column ? ordered(rows, column, direction) : rows;
  const shown = limit && sorted.length > limit && state.all === "" ? sorted.slice(0, limit) : sorted;
  return [
    h("div", { class: shown.length > 40 ? "scroll tall" : "scroll", tabindex: 0, role: "region", "aria-label": caption },
      h("table", { class: "results" },
        h("caption", { class: "sr" }, caption),
        h("thead", null, h("tr", null, columns.map((each) => heading(each, column, direction)))),
        h("tbody", null, shown.map((row) => h("tr", null, columns.map((each, index) => tableCell(each, row, index))))))),
    shown.length < sorted.length
      ? h("p", null, `The first ${shown.length} of ${sorted.length} rows. `, h("button", { type: "button", "data-key": "all", onclick: () => set({ all: "1" }) }, "Show all rows"))
      : null,
  ];
}

function tableCell(column, row, index) {
  const kind = `${column.numeric ? "num" : "txt"}${column.wide ? " wide" : ""}`;
  return index === 0 ? h("th", { scope: "row", class: kind }, column.cell(row)) : h("td", { class: kind }, column.cell(row));
}

function heading(column, sorted, direction) {
  const on = column === sorted;
  const arrow = h("span", { class: "arrow", "aria-hidden": "true" }, on ? (direction === "asc" ? "▲" : "▼") : "");
  const next = on ? (direction === "asc" ? "desc" : "asc") : column.first;
  return h("th", { scope: "col", class: column.numeric ? "num" : "txt", "aria-sort": on ? `${direction}ending` : "none" },
    h("button", {
      type: "button", title: column.hint, "data-key": `sort-${column.id}`,
      onclick: () => set({ sort: (next === "desc" ? "-" : "") + column.id }),
    }, column.numeric ? [arrow, column.label] : [column.label, arrow]));
}

function sorting(columns, usual) {
  for (const wanted of [state.sort, usual]) {
    const id = (wanted || "").replace(/^-/, "");
    const found = columns.find((column) => column.id === id);
    if (found) return [found, wanted.startsWith("-") ? "desc" : "asc"];
  }
  return [null, "asc"];
}

function ordered(rows, column, direction) {
  const sign = direction === "asc" ? 1 : -1;
  const missing = (value) => value === null || value === undefined || value === "" || (column.numeric && !known(value));
  return rows.map((row) => [column.value(row), row]).sort(([a], [b]) => {
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
    return sign * (column.numeric ? a - b : naturally(a, b));
  }).map(([, row]) => row);
}

// Under a table: what its signs mean.
function footnotes(rows, columns) {
  const timings = columns.some((each) => ["train", "ns", "tsec", "asec", "csec"].includes(each.id));
  const found = [];
  if (timings) found.push(...gathered(rows, "†", (row) => row.timing_mark));
  found.push(...gathered(rows, "‡", (row) => row.exempt), ...gathered(rows, "§", (row) => row.edges));
  return found.length ? h("ul", { class: "footnotes" }, found) : null;
}

function gathered(rows, sign, text) {
  const by = new Map();
  for (const row of rows) {
    if (text(row)) by.set(text(row), [...(by.get(text(row)) || []), row.method]);
  }
  return [...by].map(([reason, names]) => {
    const who = [...new Set(names)].sort(naturally);
    const shown = who.length > 6 ? `${who.slice(0, 6).join(", ")} and ${who.length - 6} more` : list(who);
    return h("li", null, `${sign} ${shown}: ${reason}`);
  });
}

// A table as text: for spreadsheets and the like.
function separated(columns, rows) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const lines = [columns.map((column) => column.label), ...rows.map((row) => columns.map((column) => column.text(row)))];
  return `${lines.map((line) => line.map(quoted).join(",")).join("\n")}\n`;
}

function copyTable(columns, rows, usual) {
  return copyButton("Copy as CSV", () => {
    const [column, direction] = sorting(columns(), usual);
    return separated(columns(), column ? ordered(rows(), column, direction) : rows());
  }, "Copy the rows and columns that are shown, as comma-separated values");
}
