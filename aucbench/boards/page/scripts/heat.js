// Every method on every data set at a glance.

function heatSection(overall) {
  const boards = groupShown().boards;
  const names = standing(overall).order.map((each) => each.method);
  const rest = overall.methods.filter((name) => !names.includes(name));
  if (!boards.length) return null;
  return section("glance", "All results at a glance",
    h("div", { class: "scroll fit", tabindex: 0, role: "region", "aria-label": "Mean AUC of every method on every data set" },
      h("table", { class: "matrix heat" }, h("caption", { class: "sr" }, "Mean test AUC of every method on every data set"),
        h("thead", null, h("tr", null, h("td", null), boards.map((board) => h("th", { scope: "col", class: "upright" }, h("span", null, boardLink(board)))))),
        h("tbody", null, [...names, ...rest].map((name) => h("tr", null, h("th", { scope: "row" }, methodLink(name)), boards.map((board) => heatCell(board, name))))))),
    reading("Mean test AUC. The darker a cell, the better its rank on that data set; bold is the best. Follow a name for the details."));
}

function heatCell(board, name) {
  const row = rowOf(board, name);
  if (!row) return h("td", null, nothing("not on this board"));
  if (!known(row.auc.value)) return h("td", null, nothing(row.shown.trouble || "no run has finished"));
  const ranked = board.rows.filter((each) => known(each.auc.value)).sort((a, b) => b.auc.value - a.auc.value);
  const share = ranked.length > 1 ? 1 - ranked.indexOf(row) / (ranked.length - 1) : 0;
  const best = row.auc.value === ranked[0].auc.value;
  const trouble = row.shown.trouble;
  return h("td", { class: best ? "best" : null, vars: { "--share": share.toFixed(2) }, title: `${name} on ${board.label}: rank ${known(row.rank) ? row.shown.rank : "none"}${trouble ? `, ${trouble}` : ""}` },
    row.shown.auc.replace(/^0/, ""), trouble ? h("sup", { "aria-label": trouble }, "!") : null);
}
