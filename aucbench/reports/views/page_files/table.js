// Tables that sort by any column; unknown values come last in either direction.
// A column is {name, heading, hint, isText, cell(row), order(row)}; `columnOf` makes it from a column of Python.

function columnOf(table, name, changes) {
  const column = schema[table].get(name);
  return {
    ...column, heading: expand(column.heading), hint: expand(column.hint), isText: column.form === "text",
    cell: (row) => cellText(column, row), order: (row) => row[name], ...changes,
  };
}

function isMissing(value) {
  return value === null || value === undefined || value === "";
}

function sortRows(rows, columns) {
  const column = columns.find(({ name }) => name === state.sort.replace(/^-/, ""));
  if (!column) return rows;
  const sign = state.sort.startsWith("-") ? -1 : 1;
  const number = (value) => (value === "never" ? Infinity : value);
  return [...rows].sort((left, right) => {
    const [a, b] = [column.order(left), column.order(right)];
    if (isMissing(a) || isMissing(b)) return Number(isMissing(a)) - Number(isMissing(b));
    if (column.isText) return sign * compareTexts(a, b);
    return number(a) === number(b) ? 0 : sign * (number(a) < number(b) ? -1 : 1);
  });
}

function resultTable({ caption, columns, rows, isFixed, isMarked }) {
  const sortedRows = isFixed ? rows : sortRows(rows, columns);
  const kind = (column) => [column.isText ? "txt" : "num", column.kind].filter(Boolean).join(" ");
  return [
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
      h("table", { class: "results", vars: { "--columns": columns.length - 1 } },
        h("caption", { class: "sr" }, caption),
        h("thead", null, h("tr", null, columns.map((column) => heading(column, kind(column), isFixed)))),
        h("tbody", null, sortedRows.map((row) => h("tr", { class: isMarked?.(row) ? "marked" : null, "data-method": row.method ?? null }, columns.map((column, index) => (
          index ? h("td", { class: kind(column) }, column.cell(row)) : h("th", { scope: "row", class: kind(column) }, column.cell(row))))))))),
    h("p", { class: "saves" }, h("button", {
      type: "button", "aria-label": `Download the table as CSV: ${caption}`, onclick: () => save(caption, csv(columns, sortedRows)),
    }, "CSV")),
  ];
}

function heading(column, kind, isFixed) {
  const title = h("span", null, column.heading);
  if (isFixed) return h("th", { scope: "col", class: kind, title: column.hint }, title, column.above ?? null);
  const [name, isDown] = [state.sort.replace(/^-/, ""), state.sort.startsWith("-")];
  const isSorted = name === column.name;
  const isNextDown = isSorted ? !isDown : column.descending;
  return h("th", { scope: "col", class: kind, "aria-sort": isSorted ? (isDown ? "descending" : "ascending") : null },
    h("button", {
      type: "button", title: column.hint, "data-key": `sort-${column.name}`, onclick: () => set({ sort: (isNextDown ? "-" : "") + column.name }),
    }, title, h("span", { class: "arrow", "aria-hidden": "true" }, isSorted ? (isDown ? " ▼" : " ▲") : "")), column.above ?? null);
}

// The values of the columns as CSV, with a line per row.
function csv(columns, rows) {
  const names = [...new Set(columns.flatMap(({ name, low, high, spread }) => [name, low, high, spread].filter(Boolean)))];
  // Text that a spreadsheet would evaluate gets a leading quote.
  const guard = (value) => (typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value));
  const quote = (value) => (/[",\r\n]/.test(value) ? `"${value.replace(/"/g, '""')}"` : value);
  const line = (values) => `${values.map((value) => quote(isMissing(value) ? "" : guard(value))).join(",")}\n`;
  return [line(names), ...rows.map((row) => line(names.map((name) => row[name])))].join("");
}

function save(name, content) {
  const link = h("a", {
    href: URL.createObjectURL(new Blob([content], { type: "text/csv;charset=utf-8" })),
    download: `${`${report.title}-${name}`.normalize("NFKD").replace(/[^A-Za-z0-9.]+/g, "-").slice(0, 100)}.csv`,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
