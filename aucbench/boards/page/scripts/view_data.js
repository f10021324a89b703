// All boards of one kind, and which method leads on each.

const BOARD_COLUMNS = [
  { ...words("data", "Data set", "Follow the name for the board", (board) => board.label), cell: (board) => boardLink(board) },
  { ...number("facts", "Rows", "Training and test rows of a run", (board) => board.facts.rows, counted, () => "not recorded", "desc") },
  { ...number("features", "Features", "Of the data set", (board) => board.facts.features, counted, () => "not recorded", "desc") },
  { ...number("positives", "Positives", "Share of the rows", (board) => board.facts.positive_share, percent, () => "not recorded") },
  { ...words("leader", "Best", "The highest mean test AUC", (board) => leader(board)?.method ?? ""), cell: (board) => (leader(board) ? methodLink(leader(board).method) : nothing("no run has finished")) },
  { ...number("auc", "AUC", "Mean test AUC of the best", (board) => leader(board)?.auc.value ?? null, String, () => "no run has finished", "desc"),
    cell: (board) => leader(board)?.shown.auc ?? nothing("no run has finished") },
  { ...number("near", "Tied with best", "Methods not significantly worse than the best, itself not counted", (board) => near(board), counted, () => "not compared") },
  { ...number("methods", "Methods", "On this board", (board) => board.rows.length, counted, () => "none", "desc") },
  {
    ...number("trouble", "Missing", "Diverged, failed and missing runs of all methods", (board) => gapsOf(board), counted, () => "none", "desc"),
    cell: (board) => (gapsOf(board) ? h("span", { class: "badge" }, many(gapsOf(board), "run")) : h("span", { class: "soft" }, "none")),
  },
  { ...words("setting", "Setting", "Settings shared by all methods of the board", (board) => board.setting), wide: true },
];

function leader(board) {
  return board.rows.filter((row) => known(row.auc.value)).sort((a, b) => b.auc.value - a.auc.value)[0] ?? null;
}

function near(board) {
  const lead = leader(board);
  return lead?.groups ? board.rows.filter((row) => row !== lead && shareLetter(lead.groups, row.groups)).length : null;
}

function gapsOf(board) {
  return board.rows.reduce((sum, row) => sum + row.diverged + row.failed + row.missing + row.unplanned, 0);
}

function dataView() {
  const board = state.id === "" ? null : boardOf(state.id);
  if (board) return boardView(board);
  const boards = groupShown().boards;
  return [
    heading1("Data sets", besides(groupShown())),
    state.id === "" ? null : h("p", { class: "warning" }, `There is no board ${state.id}.`),
    live(["sort"], () => resultTable({ caption: "Data sets", columns: BOARD_COLUMNS, rows: boards, usual: "data" })),
    reading("A row is one data set under one setting. Follow its name for curves, runs and p-values."),
  ];
}
