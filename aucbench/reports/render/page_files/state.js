// What is looked at, and how. It is kept in the address, so that a copied address shows the same.

const DEFAULTS = {
  view: "overall", id: "", kind: groups[0]?.key ?? "tuned", at: "",
  sort: "", cols: "", data: "", method: "", ds: [], ms: [], all: "",
  lit: [], grey: [], others: "", m: "", x: "seconds", scale: "log", y: "close", band: "", trial: "",
};
const VIEWS = ["overall", "results", "data", "methods", "notes"];
let state = parsed(location.hash);
let slots = []; // the parts of the view that follow the state

function address(of) {
  const query = new URLSearchParams();
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    if (name === "view" || name === "id") continue;
    if (Array.isArray(usual)) of[name].forEach((each) => query.append(name, each));
    else if (of[name] !== usual) query.set(name, of[name]);
  }
  const path = of.id === "" ? of.view : `${of.view}/${encodeURIComponent(of.id)}`;
  const text = query.toString();
  return `#${path}${text ? `?${text}` : ""}`;
}

function parsed(hash) {
  const found = { ...DEFAULTS, ds: [], ms: [], lit: [], grey: [] };
  const text = hash.replace(/^#/, "");
  const cut = text.indexOf("?");
  const path = cut < 0 ? text : text.slice(0, cut);
  const [view, ...rest] = path.split("/");
  if (VIEWS.includes(view)) found.view = view;
  try {
    found.id = VIEWS.includes(view) ? decodeURIComponent(rest.join("/")) : "";
  } catch {
    found.id = ""; // a damaged address
  }
  const query = new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1));
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    if (name === "view" || name === "id" || !query.has(name)) continue;
    found[name] = Array.isArray(usual) ? query.getAll(name) : query.get(name);
  }
  const board = found.view === "data" ? boardOf(found.id) : null;
  if (board) found.kind = board.group.key;
  return found;
}

// The state after following a link: filters and toggles stay, the place is new.
function arriving(change) {
  const after = { ...state, at: "", id: "", ...change };
  const board = after.view === "data" ? boardOf(after.id) : null;
  if (board) after.kind = board.group.key;
  return after;
}

// To another place: the back button returns to this one.
function go(change) {
  remember({ y: window.scrollY }, address(state), "replaceState");
  state = arriving(change);
  remember(null, address(state), "pushState");
  render(true);
}

// The same place, seen differently: the back button does not stop here.
function set(change) {
  const names = Object.keys(change);
  state = { ...state, ...change };
  remember({ y: window.scrollY }, address(state), "replaceState");
  keepingFocus(() => slots.filter((slot) => slot.names.some((name) => names.includes(name))).forEach((slot) => slot.fill()));
  drawEmphasis();
  document.querySelectorAll("a[data-go]").forEach((node) => linked(node, JSON.parse(node.dataset.go)));
}

function remember(kept, where, how) {
  try {
    history[how](kept, "", where);
  } catch {
    location.hash = where; // some viewers refuse the history of a local file
  }
}

// A part of the view that is made anew when one of the named fields changes.
function live(names, build, attributes) {
  const node = h("div", attributes);
  const fill = () => node.replaceChildren(...[build()].flat(Infinity).filter(Boolean));
  slots.push({ names, fill });
  fill();
  return node;
}

function keepingFocus(change) {
  const key = document.activeElement?.dataset?.key;
  change();
  if (key === undefined || document.activeElement?.dataset?.key === key) return;
  [...document.querySelectorAll("[data-key]")].find((node) => node.dataset.key === key)?.focus({ preventScroll: true });
}

function toggled(values, value) {
  return values.includes(value) ? values.filter((each) => each !== value) : [...values, value];
}

// The group that is looked at.
function groupShown() {
  return groups.find((group) => group.key === state.kind) || groups[0] || { key: "", title: "", tuned: false, lines: [], boards: [] };
}

// Which rows a table shows: words that must all occur, and chips of which one must fit.

function matches(text, words) {
  const inside = text.toLowerCase();
  return words.toLowerCase().split(/\s+/).filter(Boolean).every((word) => inside.includes(word));
}

// What the words of a filter are looked for in: name, title, description and setting of a data set.
function searched({ dataset, search, setting }) {
  return `${dataset} ${search} ${setting}`;
}

function passing(row) {
  const { board } = row;
  return (!state.ds.length || state.ds.includes(board.dataset))
    && (!state.ms.length || state.ms.includes(row.method))
    && matches(searched(board), state.data)
    && matches(`${row.method} ${row.algorithm} ${row.cells.parameters[0]}`, state.method);
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
