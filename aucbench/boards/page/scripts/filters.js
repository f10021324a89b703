// Which rows a table shows: words that must all occur, and chips of which one must fit.

function matches(text, words) {
  const inside = text.toLowerCase();
  return words.toLowerCase().split(/\s+/).filter(Boolean).every((word) => inside.includes(word));
}

function passing(row) {
  const { board } = row;
  return (!state.ds.length || state.ds.includes(board.dataset))
    && (!state.ms.length || state.ms.includes(row.method))
    && matches(`${board.label} ${board.setting}`, state.data)
    && matches(`${row.method} ${row.algorithm} ${row.parameters}`, state.method);
}

function filterBox(label, name, hint) {
  return h("label", { class: "field" }, h("span", null, label),
    h("input", {
      type: "search", value: state[name], placeholder: hint, "data-key": `filter-${name}`, autocomplete: "off", spellcheck: "false",
      oninput: (event) => set({ [name]: event.target.value }),
    }));
}

function chips(label, name, values, shown) {
  return live([name], () => values.map((value) => h("button", {
    type: "button", class: "chip", "aria-pressed": String(state[name].includes(value)), "data-key": `chip-${name}-${value}`,
    onclick: () => set({ [name]: toggled(state[name], value) }),
  }, shown ? shown(value) : value)), { class: "chips", role: "group", "aria-label": label });
}

function filtersBar(rows) {
  const sets = [...new Set(rows.map((row) => row.board.dataset))].sort(naturally);
  const names = [...new Set(rows.map((row) => row.method))].sort(naturally);
  const boxes = {};
  const clear = () => {
    set({ data: "", method: "", ds: [], ms: [] });
    Object.values(boxes).forEach((box) => { box.querySelector("input").value = ""; });
  };
  boxes.data = filterBox("Data set", "data", "words, e.g. adult unit");
  boxes.method = filterBox("Method", "method", "words, e.g. solam l1");
  return h("div", { class: "filters", role: "search", "aria-label": "Filters" },
    h("div", { class: "filter" }, boxes.data, chips("Data sets", "ds", sets)),
    h("div", { class: "filter" }, boxes.method, chips("Methods", "ms", names, (name) => [swatch(name), name])),
    live(["data", "method", "ds", "ms"], () => (state.data || state.method || state.ds.length || state.ms.length
      ? h("button", { type: "button", "data-key": "clear", onclick: clear }, "Clear the filters") : null), { class: "row" }));
}

function toggle(label, name, choices) {
  return live([name], () => [h("span", { class: "legend-label" }, label), choices.map(([value, text, hint]) => h("button", {
    type: "button", title: hint, "aria-pressed": String(state[name] === value), "data-key": `${name}-${value}`, onclick: () => set({ [name]: value }),
  }, text))], { class: "toggle", role: "group", "aria-label": label });
}
