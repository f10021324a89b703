// The application: draws the state, sets the theme, and handles browser events.

const BUILDERS = { overall: overallView, data: dataView, methods: methodsView, notes: notesView };
const TITLES = { overall: "Overview", data: "Data sets", methods: "Methods", notes: "Notes" };
const ranks = new Map(); // positions of methods in the order of gains, which decides their colours

function render() {
  const view = document.getElementById("view");
  emphasisedMethod = null;
  ranks.clear();
  const baseline = setting().reference;
  const methods = rowsOf(setting().compared[0]?.verdicts ?? {}, { group: "all", reference: baseline }).map(({ method }) => method);
  [baseline, ...methods].filter(Boolean).forEach((method) => ranks.set(method, ranks.get(method) ?? ranks.size));
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

function applyTheme(theme) {
  document.documentElement.dataset.theme = theme || state.theme || (prefersDark.matches ? "dark" : "light");
}

function redraw(theme) {
  applyTheme(theme);
  keepFocus(render);
}

function themeButton() {
  const theme = isDark() ? "light" : "dark";
  const onclick = () => {
    set({ theme });
    redraw();
  };
  return h("button", { type: "button", class: "tools", "data-key": "theme", onclick }, isDark() ? "Light" : "Dark");
}

prefersDark.addEventListener("change", () => redraw());
window.addEventListener("beforeprint", () => redraw("light"));
window.addEventListener("afterprint", () => redraw());
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
  state = parseHash(location.hash);
  applyTheme();
  render();
  arrive(event.state?.y ?? 0);
});

let width = 0;
window.addEventListener("resize", () => requestAnimationFrame(() => {
  if (room() !== width) keepFocus(render);
  width = room();
}));

if ("scrollRestoration" in history) history.scrollRestoration = "manual";
applyTheme();
render();
width = room();
window.scrollTo(0, history.state?.y ?? 0);
document.documentElement.dataset.ready = "yes";
