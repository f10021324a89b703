// Tables that sort by any column; unknown values come last in either direction.
// A column is {name, heading, hint, isText, cell(row), order(row)}; `columnOf` makes it from a column of Python.

function columnOf(table, name, changes) {
  const own = columns[table].get(name);
  return {
    ...own, heading: words(own.heading), hint: words(own.hint), isText: own.form === "text",
    cell: (row) => shown(own, row), order: (row) => row[name], ...changes,
  };
}

function isMissing(value) {
  return value === null || value === undefined || value === "";
}

function ordered(rows, all) {
  const column = all.find(({ name }) => name === state.sort.replace(/^-/, ""));
  if (!column) return rows;
  const sign = state.sort.startsWith("-") ? -1 : 1;
  const number = (value) => (value === "never" ? Infinity : value);
  return [...rows].sort((one, other) => {
    const [a, b] = [column.order(one), column.order(other)];
    if (isMissing(a) || isMissing(b)) return Number(isMissing(a)) - Number(isMissing(b));
    if (column.isText) return sign * naturally(a, b);
    return number(a) === number(b) ? 0 : sign * (number(a) < number(b) ? -1 : 1);
  });
}

function resultTable({ caption, all, rows, fixed, marked }) {
  const sorted = fixed ? rows : ordered(rows, all);
  const kind = (each) => [each.isText ? "txt" : "num", each.kind].filter(Boolean).join(" ");
  return [
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
      h("table", { class: "results", vars: { "--columns": all.length - 1 } },
        h("caption", { class: "sr" }, caption),
        h("thead", null, h("tr", null, all.map((each) => heading(each, kind(each), fixed)))),
        h("tbody", null, sorted.map((row) => h("tr", { class: marked?.(row) ? "marked" : null, "data-method": row.method ?? null }, all.map((each, index) => (
          index ? h("td", { class: kind(each) }, each.cell(row)) : h("th", { scope: "row", class: kind(each) }, each.cell(row))))))))),
    h("p", { class: "saves" }, h("button", {
      type: "button", "aria-label": `Download the table as CSV: ${caption}`, onclick: () => saved(caption, csv(all, sorted)),
    }, "CSV")),
  ];
}

function heading(column, kind, fixed) {
  const title = h("span", null, column.heading);
  if (fixed) return h("th", { scope: "col", class: kind, title: column.hint }, title, column.above ?? null);
  const [name, down] = [state.sort.replace(/^-/, ""), state.sort.startsWith("-")];
  const on = name === column.name;
  const next = on ? !down : column.descending;
  return h("th", { scope: "col", class: kind, "aria-sort": on ? (down ? "descending" : "ascending") : null },
    h("button", {
      type: "button", title: column.hint, "data-key": `sort-${column.name}`, onclick: () => set({ sort: (next ? "-" : "") + column.name }),
    }, title, h("span", { class: "arrow", "aria-hidden": "true" }, on ? (down ? " ▼" : " ▲") : "")), column.above ?? null);
}

// The values of the columns as CSV, with a line per row.
function csv(all, rows) {
  const fields = [...new Set(all.flatMap(({ name, low, high, spread }) => [name, low, high, spread].filter(Boolean)))];
  // Text that a spreadsheet would evaluate gets a leading quote.
  const plain = (value) => (typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value));
  const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replace(/"/g, '""')}"` : value);
  const line = (values) => `${values.map((value) => quoted(isMissing(value) ? "" : plain(value))).join(",")}\n`;
  return [line(fields), ...rows.map((row) => line(fields.map((name) => row[name])))].join("");
}

function saved(name, content) {
  const link = h("a", {
    href: URL.createObjectURL(new Blob([content], { type: "text/csv;charset=utf-8" })),
    download: `${`${report.title}-${name}`.normalize("NFKD").replace(/[^A-Za-z0-9.]+/g, "-").slice(0, 100)}.csv`,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
