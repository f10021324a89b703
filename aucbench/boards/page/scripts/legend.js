// Which methods a picture shows: a button for each.

function legend(rows) {
  const names = rows.map((row) => row.method);
  const best = [...rows].filter((row) => known(row.auc.value)).sort((a, b) => b.auc.value - a.auc.value).slice(0, 5).map((row) => row.method);
  const others = (kept) => [...state.hide.filter((name) => !names.includes(name)), ...names.filter((name) => !kept.includes(name))];
  return live(["hide"], () => [
    h("div", { class: "row" },
      h("button", { type: "button", "data-key": "show-all", onclick: () => set({ hide: others(names) }) }, "Show all"),
      names.length > 5 ? h("button", { type: "button", "data-key": "show-best", onclick: () => set({ hide: others(best) }) }, "Best five") : null,
      h("button", { type: "button", "data-key": "show-none", onclick: () => set({ hide: others([]) }) }, "Hide all")),
    h("div", { class: "keys" }, names.map((name) => h("button", {
      type: "button", class: "key", "aria-pressed": String(!state.hide.includes(name)), "data-key": `key-${name}`,
      title: "Click to show or hide; with Shift, to show it alone",
      onclick: (event) => set({ hide: event.shiftKey ? others([name]) : toggled(state.hide, name) }),
    }, swatch(name), h("span", null, name)))),
  ], { class: "legend", role: "group", "aria-label": "Methods shown" });
}

function visible(rows) {
  return rows.filter((row) => !state.hide.includes(row.method));
}
