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
    reading("Best first by mean test AUC, unless another heading is clicked. Methods that share a letter do not differ significantly."));
}

const FACT_WORDS = new Map([["rows", "Rows"], ["features", "Features"], ["positives", "Positives"], ["licence", "Licence"], ["citation", "Citation"]]);

function factsSection(board) {
  const facts = Object.entries(board.facts);
  return section("facts", "The data",
    facts.length ? h("dl", { class: "facts" }, facts.map(([name, value]) => h("div", { class: name === "citation" ? "long" : null }, h("dt", null, FACT_WORDS.get(name) || name), h("dd", null, factText(name, value))))) : h("p", null, "Nothing is recorded about the data."),
    board.facts.citation ? h("p", null, copyButton("Copy the citation", String(board.facts.citation))) : null);
}

function factText(name, value) {
  if (value === null || value === undefined || value === "") return nothing("not recorded");
  if (name === "positives" && known(value) && value <= 1) return percent(value);
  if (known(value)) return Number.isInteger(value) ? counted(value) : significant(value);
  if (typeof value === "object") return JSON.stringify(value);
  return outward(String(value));
}

// A link where a text is an address of the web, and nothing else is.
function outward(text) {
  return /^https?:\/\/[^\s]+$/i.test(text) ? h("a", { href: text, rel: "noreferrer noopener", target: "_blank" }, text) : text;
}
