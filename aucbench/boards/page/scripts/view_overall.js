// The first screen and what belongs to all data sets together.

function overallView() {
  const { overall, boards } = groupShown();
  if (!overall || !overall.methods.length) {
    return [heading1("Overall"), h("p", { class: "verdict" }, boards.length ? "These boards were not ranked together." : "There are no results yet."),
      boards.length ? h("p", null, h("a", { go: { view: "data" } }, "To the data sets")) : null];
  }
  return [
    heading1("Overall", besides(groupShown())),
    verdict(overall),
    localLinks([["ranking", "Ranking"], ["glance", "At a glance"], ["critical", "Critical differences"],
      ["pairs", "Pairs"], overall.profile.size ? ["profile", "Profile"] : null, ["pareto", "AUC and training cost"]]),
    live([], () => rankingSection(overall)),
    heatSection(overall),
    criticalSection(overall),
    overallPairs(overall),
    profileSection(overall),
    paretoSection(overall),
  ];
}

function heading1(...words) {
  return h("h2", { class: "title", tabindex: -1, id: "title" }, words);
}

// Links to the sections of this view.
function localLinks(places) {
  return h("p", { class: "local" }, places.filter(Boolean).map(([at, text]) => h("a", { go: { view: state.view, id: state.id, at } }, text)));
}
