// All methods, and each alone.

function methodNames() {
  return [...new Set([...methods.keys(), ...algorithms.values()])].sort(naturally);
}

function methodsView() {
  if (state.id !== "") {
    return methodNames().includes(state.id) ? oneMethod(state.id) : [heading1("Methods"), h("p", { class: "warning" }, `There is no method ${state.id}.`)];
  }
  return [
    heading1("Methods"),
    h("div", { class: "cards" }, methodNames().map((name) => {
      const info = methods.get(name);
      const places = groups.map((group) => placeText(group, name)).filter(Boolean);
      return h("article", { class: "card" }, h("h3", null, methodLink(name)), h("p", null, info?.summary || "No summary."),
        info?.claims ? h("p", { class: "soft" }, `Claimed ${info.claims}`) : null, places.length ? h("p", { class: "soft" }, places.join("; ")) : null);
    })),
  ];
}

function placeText(group, name) {
  if (!group.overall) return "";
  const { order } = standing(group.overall);
  const place = order.findIndex(({ method }) => (algorithms.get(method) ?? method) === name);
  if (place < 0) return "";
  return `Ranked ${ordinal(place + 1)} of ${order.length}${besides(group)} (average rank ${order[place].rank.shown})`;
}

function oneMethod(name) {
  const info = methods.get(name) || { summary: "", citation: "", claims: "", deviations: [], source: "", distribution: "" };
  const all = methodNames();
  const place = all.indexOf(name);
  const step = (to, text) => (to === undefined ? null : h("a", { go: { view: "methods", id: to }, rel: text }, text === "prev" ? `‹ ${to}` : `${to} ›`));
  const places = groups.map((group) => placeText(group, name)).filter(Boolean);
  const fact = (label, value, why) => h("div", { class: "long" }, h("dt", null, label), h("dd", null, value ? value : nothing(why)));
  return [
    h("p", { class: "steps" }, h("a", { go: { view: "methods" } }, "All methods"), step(all[place - 1], "prev"), step(all[place + 1], "next")),
    heading1(swatch(name), " ", name),
    h("p", { class: "verdict" }, info.summary || "No summary is recorded.", places.length ? ` ${places.join("; ")}.` : ""),
    h("dl", { class: "facts" },
      fact("Source", info.citation ? outward(info.citation) : "", "no citation is recorded"),
      fact("Claims", info.claims, "the plugin claims nothing"),
      fact("Differs from its source", info.deviations.length ? h("ul", null, info.deviations.map((text) => h("li", null, text))) : "in nothing that is declared", ""),
      fact("Code", info.source ? outward(info.source) : "", "not recorded"),
      fact("Distribution", info.distribution, "not recorded")),
    info.citation ? h("p", null, copyButton("Copy citation", info.citation)) : null,
    groups.map((group) => methodResults(name, group)),
    methodSettings(name),
  ];
}

function methodResults(name, group) {
  const rows = group.boards.flatMap((board) => board.rows).filter((row) => row.algorithm === name);
  if (!rows.length) return null;
  const variants = new Set(rows.map((row) => row.method)).size > 1;
  const names = variants ? ["data", "method"] : ["data"];
  return section(`results-${group.key}`, `Results${besides(group)}`,
    h("div", { class: "controls" }, columnChooser(), copyTable(() => columnsShown(names), () => rows, "data")),
    live(["sort", "cols", "all"], () => [
      resultTable({ caption: `Results of ${name}`, columns: columnsShown(names), rows, usual: "data" }),
      footnotes(rows, columnsShown(names)),
    ]),
    reading("Ranks, groups and wins are those on each data set's board."));
}

// Settings with their commands: equal ones of several data sets once.
function methodSettings(name) {
  const rows = report.boards.flatMap((board) => board.rows).filter((row) => row.algorithm === name);
  const by = new Map();
  for (const row of rows) {
    const key = `${row.method}\n${row.parameters}\n${row.board.group.key}`;
    by.set(key, [...(by.get(key) || []), row]);
  }
  if (!by.size) return h("p", null, "It has no results in this report.");
  return section("settings", "Configuration and commands", [...by.values()].map((same) => h("article", { class: "setting" },
    h("h3", null, same[0].method, h("span", { class: "soft" }, besides(same[0].board.group))),
    h("p", null, same[0].parameters ? h("code", null, same[0].parameters) : nothing("no parameters")),
    commandsOf(same))));
}

function commandsOf(rows) {
  const lines = rows.filter((row) => row.command).map((row) => h("div", null, h("span", { class: "soft" }, row.board.label), commandBox(row.command)));
  if (lines.length <= 2) return lines.length ? lines : h("p", null, "No command is recorded.");
  return h("details", null, h("summary", null, `Commands of ${many(lines.length, "data set")}`), lines);
}
