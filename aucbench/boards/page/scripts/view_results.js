// All rows of all boards of one kind, in one table.

function resultsView() {
  const rows = groupShown().boards.flatMap((board) => board.rows);
  if (!rows.length) return [heading1("Results"), h("p", null, "There are no results yet.")];
  const names = ["method", "data"];
  const found = () => rows.filter(passing);
  return [
    heading1("Results", besides(groupShown())),
    h("p", { class: "lede" }, kindSentence()),
    filtersBar(rows),
    h("div", { class: "controls" },
      live(["data", "method", "ds", "ms"], () => h("p", { class: "count", role: "status" }, `${counted(found().length)} of ${many(rows.length, "row")}`)),
      columnChooser(), copyTable(() => columnsShown(names), found, "data")),
    live(["sort", "cols", "data", "method", "ds", "ms", "all"], () => {
      const shown = found();
      if (!shown.length) return h("p", { class: "empty" }, "No row fits the filters.");
      const columns = columnsShown(names);
      return [resultTable({ caption: "Results of all methods on all data sets", columns, rows: shown, usual: "data", limit: 600 }), footnotes(shown, columns)];
    }),
    reading("A row is one method on one data set. Click a heading to sort, again to reverse; missing values come last. ",
      "Hover or tap a dash for the reason."),
  ];
}

function kindSentence() {
  const text = groupShown().tuned
    ? "Hyperparameters were tuned inside the training rows."
    : "Hyperparameters as given; no tuning.";
  return groups.length > 1 ? `${text} Other results stand apart: switch at the top.` : text;
}
