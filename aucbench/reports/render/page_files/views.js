// The views of the page: overall, results, data sets, methods, notes.

function heading1(...words) {
  return h("h2", { class: "title", tabindex: -1, id: "title" }, words);
}

// A name in bold, and what is said of it.
function verdict([name, words]) {
  return h("p", { class: "verdict" }, name ? h("strong", null, name) : null, words);
}

// Links to the sections of this view.
function localLinks(places) {
  return h("p", { class: "local" }, places.filter(Boolean).map(([at, text]) => h("a", { go: { view: state.view, id: state.id, at } }, text)));
}

// Links to the one before and the one after.
function steps(view, all, names, place, title) {
  const step = (k, rel) => (names[k] === undefined ? null : h("a", { go: { view, id: names[k] }, rel }, rel === "prev" ? `‹ ${title(k)}` : `${title(k)} ›`));
  return h("p", { class: "steps" }, h("a", { go: { view } }, all), step(place - 1, "prev"), step(place + 1, "next"));
}

function facts(found) {
  return h("dl", { class: "facts" }, found.map(({ name, label, value, reason, long }) => h("div", { class: long ? "long" : null, "data-fact": name },
    h("dt", null, label), h("dd", null, value || nothing(reason)))));
}

// A link where a text is an address of the web, and nothing else is.
function outward(text) {
  return /^https?:\/\/[^\s]+$/i.test(text) ? away(text, text) : text;
}

function away(text, address) {
  return h("a", { href: address, rel: "noreferrer noopener", target: "_blank" }, text);
}

// Links to paper, documentation and source, where these are known.
function outside(links) {
  return links?.length ? h("p", { class: "local" }, links.map(([text, address]) => away(text, address))) : null;
}

function overallView() {
  const group = groupShown();
  const { lines } = group;
  if (!lines.length) return [heading1("Overall"), h("p", { class: "verdict" }, "There are no results yet.")];
  return [
    heading1("Overall", besides(group)),
    verdict(group.verdict),
    localLinks([["curves", "Curves"], ["pareto", `${report.measure.symbol} and training cost`], group.reached[""] ? ["reached", "Targets reached"] : null,
      ["ranking", "Ranking"], ["glance", "At a glance"], ["critical", "Critical differences"], ["pairs", "Pairs"], group.profile.length ? ["profile", "Profile"] : null]),
    allCurvesSection(group),
    paretoSection(group),
    reachedSection(group),
    live(HIGHLIGHT, () => rankingSection(group)),
    heatSection(group),
    criticalSection(group),
    pairsSection(lines.map((line) => line.method), group, "best average rank first"),
    profileSection(group),
  ];
}

function resultsView() {
  const group = groupShown();
  const rows = group.boards.flatMap((board) => board.rows);
  if (!rows.length) return [heading1("Results"), h("p", null, "There are no results yet.")];
  const found = () => rows.filter(passing);
  const count = live(["data", "method", "ds", "ms"], () => h("p", { class: "count", role: "status" }, `${found().length} of ${many(rows.length, "row")}`));
  return [
    heading1("Results", besides(group)),
    h("p", { class: "lede" }, group.tuned ? "Hyperparameters were tuned inside the training rows." : "Hyperparameters as given; no tuning.",
      groups.length > 1 ? " Other results stand apart: switch at the top." : ""),
    filtersBar(rows),
    rowTable("Results of all methods on all data sets", ["method", "data"], found, "data", { count, limit: 600 }),
    reading("A row is one method on one data set. Click a heading to sort, again to reverse; missing values come last. ",
      "Hover or tap a dash for the reason."),
  ];
}

function dataView() {
  const board = state.id === "" ? null : boardOf(state.id);
  if (board) return boardView(board);
  const found = () => groupShown().boards.filter((each) => matches(searched(each), state.data));
  return [
    heading1("Data sets", besides(groupShown())),
    state.id === "" ? null : h("p", { class: "warning" }, `There is no data set ${state.id} here. `,
      /^\d+$/.test(state.id) ? "Addresses hold names of data sets now, and no numbers; choose it from the table." : "Choose one from the table."),
    h("div", { class: "controls" }, filterBox("Search", "data", "name, title or description, e.g. adult"),
      csvButton("data-sets", () => asCsv([fieldsOf(report.board_columns), ...found().map((board) => valuesOf(board, report.board_columns))]))),
    live(["sort", "data"], () => (found().length
      ? resultTable({ caption: "Data sets", columns: report.board_columns, rows: found(), usual: "data" }) : h("p", { class: "empty" }, "No data set fits the words."))),
    reading("A row is one data set under one setting. Follow its name for curves, runs and p-values."),
  ];
}

function boardView(board) {
  const near = board.group.boards;
  const citation = board.facts.find(([name]) => name === "citation")[2];
  return [
    steps("data", "All data sets", near.map((each) => each.slug), near.indexOf(board), (k) => near[k].dataset),
    heading1(board.dataset),
    h("p", { class: "lede" }, board.setting),
    verdict(board.verdict),
    localLinks([["results", "Results"], ["curves", "Curves"], ["runs", "Runs"], ["pairs", "Pairs"], board.tuned ? ["tuning", "Tuning"] : null, ["facts", "The data"]]),
    section("results", "Results",
      rowTable(`Results on ${board.dataset}`, ["method"], () => board.rows, "rank"),
      reading(`Best first by mean test ${report.measure.title}, unless another heading is clicked. `, board.ties || "No pair of methods could be tested.",
        board.baseline_reason ? ` There are no gains: ${board.baseline_reason}.` : "")),
    curvesSection(board),
    stripsSection(board),
    pairsSection(board.rows.map((row) => row.method), board, `best mean ${report.measure.title} first`),
    tuningSection(board),
    section("facts", "The data",
      board.summary ? h("p", null, board.summary) : null,
      outside(board.links),
      facts(board.facts.map(([name, label, text]) => ({ name, label, value: outward(text), reason: "not recorded", long: name === "citation" }))),
      citation ? h("p", null, copyButton("Copy citation", citation)) : null),
  ];
}

function placesOf(name) {
  return groups.filter((group) => group.places.has(name)).map((group) => `${group.places.get(name)}${besides(group)}`).join("; ");
}

function methodsView() {
  if (state.id !== "") {
    return methodNames().includes(state.id) ? oneMethod(state.id) : [heading1("Methods"), h("p", { class: "warning" }, `There is no method ${state.id}.`)];
  }
  return [
    heading1("Methods"),
    h("div", { class: "cards" }, methodNames().map((name) => {
      const info = methods.get(name);
      const soft = (text) => (text ? h("p", { class: "soft" }, text) : null);
      return h("article", { class: "card" }, h("h3", null, methodLink(name)), h("p", null, info?.summary || "No summary."),
        soft(info?.claims ? `Claimed ${info.claims}` : ""), soft(placesOf(name)));
    })),
  ];
}

function oneMethod(name) {
  const info = methods.get(name) || { summary: "", citation: "", claims: "", deviations: [], source: "", distribution: "" };
  const all = methodNames();
  const places = placesOf(name);
  const [, code] = info.links?.find(([text]) => text === "Source") ?? [];
  const fact = (label, value, reason) => ({ label, value, reason, long: true });
  return [
    steps("methods", "All methods", all, all.indexOf(name), (k) => all[k]),
    heading1(swatch(name), " ", name),
    h("p", { class: "verdict" }, info.summary || "No summary is recorded.", places ? ` ${places}.` : ""),
    facts([
      fact("Source", outward(info.citation), "no citation is recorded"),
      fact("Claims", info.claims, "the plugin claims nothing"),
      fact("Differs from its source", info.deviations.length ? h("ul", null, info.deviations.map((text) => h("li", null, text))) : "in nothing that is declared"),
      fact("Code", code ? away(info.source, code) : outward(info.source), "not recorded"),
      fact("Distribution", info.distribution, "not recorded"),
    ]),
    info.citation ? h("p", null, copyButton("Copy citation", info.citation)) : null,
    outside(info.links),
    groups.map((group) => methodGaps(name, group)),
    groups.map((group) => methodResults(name, group)),
    methodSettings(name),
  ];
}

function methodResults(name, group) {
  const rows = group.boards.flatMap((board) => board.rows).filter((row) => row.algorithm === name);
  if (!rows.length) return null;
  const variants = new Set(rows.map((row) => row.method)).size > 1;
  return section(`results-${group.key}`, `Results${besides(group)}`,
    rowTable(`Results of ${name}`, variants ? ["data", "method"] : ["data"], () => rows, "data"),
    reading("Ranks, groups and wins are those on each data set."));
}

// Settings with their commands: equal ones of several data sets once.
function methodSettings(name) {
  const by = new Map();
  for (const row of boards.flatMap((board) => board.rows).filter((each) => each.algorithm === name)) {
    const key = `${row.method}\n${row.cells.parameters[0]}\n${row.board.group.key}`;
    by.set(key, [...(by.get(key) || []), row]);
  }
  if (!by.size) return h("p", null, "It has no results in this report.");
  return section("settings", "Configuration and commands", [...by.values()].map((same) => h("article", { class: "setting" },
    h("h3", null, same[0].method, h("span", { class: "soft" }, besides(same[0].board.group))),
    h("p", null, same[0].cells.parameters[2] ? nothing("no parameters") : h("code", null, same[0].cells.parameters[0])),
    commandsOf(same))));
}

function commandsOf(rows) {
  const lines = rows.filter((row) => !row.cells.command[2]).map((row) => h("div", null, h("span", { class: "soft" }, row.board.dataset),
    h("div", { class: "command" }, h("code", { tabindex: 0 }, row.cells.command[0]), copyButton("Copy", row.cells.command[0], "Copy the command"))));
  if (lines.length <= 2) return lines.length ? lines : h("p", null, "No command is recorded.");
  return h("details", null, h("summary", null, `Commands of ${many(lines.length, "data set")}`), lines);
}

function notesView() {
  const signs = { "–": "not known; hover or tap for the reason", "†": "a time that cannot be compared with the others'", "°": "a method that is not a linear model", "‡": `a method ${report.exempt}`, "§": "a tuning chose a value at the edge of the values tried", "!": "some runs diverged, failed or are missing" };
  return [
    heading1("Notes"),
    section("made", "How the numbers were made", report.notes.length ? h("ul", { class: "notes" }, report.notes.map((note) => h("li", null, note))) : h("p", null, "No notes are recorded.")),
    section("signs", "Symbols", facts(Object.entries(signs).map(([label, value]) => ({ label, value, long: true })))),
    section("page", "This page", h("ul", { class: "notes" },
      h("li", null, "Filters, order, columns, hidden methods and scales are stored in the URL: copy it, and another reader of this file sees the same."),
      h("li", null, "Every method has one colour, one dash pattern and one marker, everywhere."),
      h("li", null, `Made by aucbench ${report.version} on ${report.made || "an unknown date"}; the cells ran on ${report.machines || "unknown processors"}.`))),
  ];
}
