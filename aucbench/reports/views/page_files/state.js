// The state: view and options. It is stored in the address, so that a copied address shows the same view.

const DEFAULTS = {
  view: "overall", id: "", setting: "", ref: "", measure: "", group: "all", model: "", of: "", sort: "", columns: "", heat: "gain", x: "seconds", y: "close",
  lit: [], off: [], theme: "",
};
const VIEWS = ["overall", "data", "methods", "notes"];
let state = parseHash(location.hash);

function address(values) {
  const query = new URLSearchParams();
  for (const [name, fallback] of Object.entries(DEFAULTS)) {
    if (name === "view" || name === "id") continue;
    if (Array.isArray(fallback)) values[name].forEach((item) => query.append(name, item));
    else if (values[name] !== fallback) query.set(name, values[name]);
  }
  const path = values.id === "" ? values.view : `${values.view}/${encodeURIComponent(values.id)}`;
  const text = query.toString();
  return `#${path}${text ? `?${text}` : ""}`;
}

function parseHash(hash) {
  const values = { ...DEFAULTS };
  const [path, ...queryParts] = hash.replace(/^#/, "").split("?");
  const [view, ...idParts] = path.split("/");
  if (VIEWS.includes(view)) {
    values.view = view;
    try {
      values.id = decodeURIComponent(idParts.join("/"));
    } catch {
      values.id = ""; // a damaged address
    }
  }
  const query = new URLSearchParams(queryParts.join("?"));
  for (const [name, fallback] of Object.entries(DEFAULTS)) {
    if (name !== "view" && name !== "id" && query.has(name)) values[name] = Array.isArray(fallback) ? query.getAll(name) : query.get(name);
  }
  return values;
}

// Go to another view; the back button returns to the previous view.
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
  keepFocus(render);
}

function remember(position, hash, operation) {
  try {
    history[operation](position, "", hash);
  } catch {
    location.hash = hash; // some viewers refuse the history of a local file
  }
}

// Redraws with the same focus and scroll position.
function keepFocus(draw) {
  const key = document.activeElement?.dataset?.key;
  const y = window.scrollY;
  draw();
  if (key !== undefined) [...document.querySelectorAll("[data-key]")].find((node) => node.dataset.key === key)?.focus({ preventScroll: true });
  window.scrollTo(0, y);
}
