// One board: a data set under one setting.

function boardView(board) {
  const near = board.group.boards;
  const place = near.indexOf(board);
  const step = (to, text) => (to ? h("a", { go: { view: "data", id: String(to.number) }, rel: text }, text === "prev" ? `‹ ${to.label}` : `${to.label} ›`) : null);
  return [
    h("p", { class: "steps" }, h("a", { go: { view: "data" } }, "All data sets"), step(near[place - 1], "prev"), step(near[place + 1], "next")),
    heading1(board.label),
    h("p", { class: "lede" }, board.setting),
    boardVerdict(board),
    localLinks([["results", "Results"], ["curves", "Curves"], ["runs", "Runs"], ["pairs", "Pairs"], board.tuned ? ["tuning", "Tuning"] : null, ["facts", "The data"]]),
    boardTable(board),
    curvesSection(board),
    stripsSection(board),
    boardPairs(board),
    sensitivitySection(board),
    factsSection(board),
  ];
}

function boardTable(board) {
  const columns = () => columnsShown(["method"]);
  return section("results", "Results",
    h("div", { class: "controls" }, columnChooser(), copyTable(columns, () => board.rows, "rank")),
    live(["sort", "cols", "all"], () => [
      resultTable({ caption: `Results on ${board.label}`, columns: columns(), rows: board.rows, usual: "rank" }),
      footnotes(board.rows, columns()),
    ]),
    reading("Best first by mean test AUC, unless another heading is clicked. ", board.letters || "No pair of methods could be tested.",
      board.baseline_reason ? ` There are no gains: ${board.baseline_reason}.` : ""));
}

// The fields of DataFacts, in order: what each is called, and how it is shown.
const FACTS = [
  ["rows", "Rows", counted], ["train_rows", "Training rows", counted], ["test_rows", "Test rows", counted],
  ["features", "Features", counted], ["positives", "Positives", counted], ["positive_share", "Share of positives", percent],
  ["positive", "Positive labels", list], ["negative", "Negative labels", list],
  ["format", "Format", String], ["licence", "Licence", outward], ["citation", "Citation", outward],
];

function factsSection(board) {
  const { facts } = board;
  const lacking = (value) => value === null || value.length === 0;
  return section("facts", "The data",
    h("dl", { class: "facts" }, FACTS.map(([name, label, shown]) => h("div", { class: name === "citation" ? "long" : null, "data-fact": name },
      h("dt", null, label), h("dd", null, lacking(facts[name]) ? nothing("not recorded") : shown(facts[name]))))),
    facts.citation ? h("p", null, copyButton("Copy citation", facts.citation)) : null);
}

// A link where a text is an address of the web, and nothing else is.
function outward(text) {
  return /^https?:\/\/[^\s]+$/i.test(text) ? h("a", { href: text, rel: "noreferrer noopener", target: "_blank" }, text) : text;
}
