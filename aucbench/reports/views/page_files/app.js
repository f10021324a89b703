// The application: draws the state, sets the theme, and handles browser events.

const BUILDERS = { overall: overallView, data: dataView, methods: methodsView, notes: notesView };
const TITLES = { overall: "Overview", data: "Data sets", methods: "Methods", notes: "Notes" };
const place = new Map(); // positions of methods in the order of gains, which decides their colours

function render() {
  const view = document.getElementById("view");
  emphasised = null;
  place.clear();
  const own = setting().reference;
  const ranked = where(setting().compared[0]?.verdicts ?? {}, { group: "all", reference: own }).map(({ method }) => method);
  [own, ...ranked].filter(Boolean).forEach((method) => place.set(method, place.get(method) ?? place.size));
  document.getElementById("answer").textContent = setting().answer;
  document.getElementById("nav").replaceChildren(
    h("div", { class: "links" }, VIEWS.map((name) => h("a", {
      go: { view: name }, "aria-current": state.view === name ? "page" : null, "data-key": `nav-${name}`,
    }, TITLES[name]))),
    themeButton());
  view.replaceChildren(...[BUILDERS[state.view]()].flat(Infinity).filter(Boolean));
  document.title = [state.id || TITLES[state.view], report.title, "aucbench"].join(" - ");
}

// Scrolls to a position and focuses the heading.
function arrive(y) {
  document.querySelector("#view h2")?.focus({ preventScroll: true });
  window.scrollTo(0, y);
}

// Light, dark, or what the system prefers; paper is light.

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

function applyTheme(forced) {
  document.documentElement.dataset.theme = forced || state.theme || (prefersDark.matches ? "dark" : "light");
}

function redrawn(forced) {
  applyTheme(forced);
  keepingFocus(render);
}

function themeButton() {
  const theme = isDark() ? "light" : "dark";
  const change = () => {
    set({ theme });
    redrawn();
  };
  return h("button", { type: "button", class: "tools", "data-key": "theme", onclick: change }, isDark() ? "Light" : "Dark");
}

prefersDark.addEventListener("change", () => redrawn());
window.addEventListener("beforeprint", () => redrawn("light"));
window.addEventListener("afterprint", () => redrawn());
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-go]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  go(JSON.parse(link.dataset.go));
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("view").focus();
});
window.addEventListener("popstate", (event) => {
  state = parsed(location.hash);
  applyTheme();
  render();
  arrive(event.state?.y ?? 0);
});

let width = 0;
window.addEventListener("resize", () => requestAnimationFrame(() => {
  if (room() !== width) keepingFocus(render);
  width = room();
}));

if ("scrollRestoration" in history) history.scrollRestoration = "manual";
applyTheme();
render();
width = room();
window.scrollTo(0, history.state?.y ?? 0);
document.documentElement.dataset.ready = "yes";
