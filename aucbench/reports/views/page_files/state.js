// The state: view and options. It is stored in the address, so that a copied address shows the same view.

const DEFAULTS = {
  view: "overall", id: "", setting: "", ref: "", measure: "", group: "all", model: "", of: "", sort: "", columns: "", heat: "gain", x: "seconds", y: "close",
  lit: [], off: [], theme: "",
};
const VIEWS = ["overall", "data", "methods", "notes"];
let state = parsed(location.hash);

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
  const found = { ...DEFAULTS };
  const [path, ...rest] = hash.replace(/^#/, "").split("?");
  const [view, ...id] = path.split("/");
  if (VIEWS.includes(view)) {
    found.view = view;
    try {
      found.id = decodeURIComponent(id.join("/"));
    } catch {
      found.id = ""; // a damaged address
    }
  }
  const query = new URLSearchParams(rest.join("?"));
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    if (name !== "view" && name !== "id" && query.has(name)) found[name] = Array.isArray(usual) ? query.getAll(name) : query.get(name);
  }
  return found;
}

// Go to another view; the back button returns to the current view.
function go(change) {
  remember({ y: window.scrollY }, address(state), "replaceState");
  state = { ...state, id: "", sort: "", ...change };
  remember(null, address(state), "pushState");
  render();
  arrive(0);
}

// Change options of the view without an entry in the history.
function set(change) {
  state = { ...state, ...change };
  remember({ y: window.scrollY }, address(state), "replaceState");
  keepingFocus(render);
}

function remember(kept, place, how) {
  try {
    history[how](kept, "", place);
  } catch {
    location.hash = place; // some viewers refuse the history of a local file
  }
}

// Redraws with the same focus and scroll position.
function keepingFocus(change) {
  const key = document.activeElement?.dataset?.key;
  const y = window.scrollY;
  change();
  if (key !== undefined) [...document.querySelectorAll("[data-key]")].find((node) => node.dataset.key === key)?.focus({ preventScroll: true });
  window.scrollTo(0, y);
}
