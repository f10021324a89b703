// From the state to what is seen: the view, the theme, copying, and what the browser reports.

const BUILDERS = { overall: overallView, results: resultsView, data: dataView, methods: methodsView, notes: notesView };
const TITLES = [["overall", "Overall"], ["results", "Results"], ["data", "Data sets"], ["methods", "Methods"], ["notes", "Notes"]];

// Which group is looked at: two buttons, or a list where settings differ too.
function groupChoice() {
  if (groups.length < 2) return groups.length ? h("span", { class: "tag", title: "All results are of this kind" }, groups[0].title) : null;
  const choose = (key) => go({ view: ["data", "overall", "results"].includes(state.view) ? state.view : "overall", kind: key, ds: [], ms: [] });
  if (groups.some((group) => group.title.includes(";"))) {
    return h("select", { "aria-label": "Results shown", "data-key": "kind", onchange: (event) => choose(event.target.value) },
      groups.map((group) => h("option", { value: group.key, selected: group === groupShown() }, group.title)));
  }
  return h("div", { class: "toggle", role: "group", "aria-label": "Tuned or not" }, groups.map((group) => h("button", {
    type: "button", "aria-pressed": String(groupShown() === group), "data-key": `kind-${group.key}`, onclick: () => choose(group.key),
  }, group.tuned ? "Tuned" : "Not tuned")));
}

function navigation() {
  const links = TITLES.map(([view, text]) => h("a", { go: { view }, "aria-current": state.view === view ? "page" : null, "data-key": `nav-${view}` }, text));
  document.getElementById("nav").replaceChildren(h("div", { class: "links" }, links), groupChoice() || "",
    h("div", { class: "tools" }, copyButton("Copy link", () => location.href, "Copy the address of this view: filters, order and toggles included"), themeButton()));
}

function render(moved) {
  const view = document.getElementById("view");
  slots = [];
  emphasised = null;
  room.width = 0;
  navigation();
  view.replaceChildren(...[BUILDERS[state.view]()].flat(Infinity).filter(Boolean));
  document.title = [state.id === "" ? TITLES.find(([name]) => name === state.view)[1] : placeName(), report.title, "aucbench"].join(" - ");
  if (moved) arrive();
}

function placeName() {
  return state.view === "data" ? boardOf(state.id)?.dataset ?? state.id : state.id;
}

// To where the reader was, or to the section that the address names, or to the top; the focus goes along.
function arrive(y) {
  const target = y === undefined && state.at ? document.getElementById(state.at) : null;
  const title = target ? target.querySelector("h2") : document.getElementById("title");
  title?.focus({ preventScroll: true });
  if (target) target.scrollIntoView();
  else window.scrollTo(0, y ?? 0);
}

// Buttons that copy a text and say whether they could.

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByHand(text); // no permission, or no clipboard at an address of a local file
  }
}

function copiedByHand(text) {
  const area = h("textarea", { class: "away", "aria-hidden": "true" });
  const before = document.activeElement;
  area.value = text;
  document.body.append(area);
  area.select();
  let done = false;
  try {
    done = document.execCommand("copy");
  } catch {
    done = false;
  }
  area.remove();
  before?.focus?.({ preventScroll: true });
  return done;
}

function copyButton(label, text, title) {
  const button = h("button", { type: "button", class: "copy", title, "aria-live": "polite" }, label);
  button.addEventListener("click", async () => {
    const done = await copied(typeof text === "function" ? text() : text);
    button.textContent = done ? "Copied" : "Not copied: select it";
    button.classList.toggle("done", done);
    setTimeout(() => {
      button.textContent = label;
      button.classList.remove("done");
    }, 1800);
  });
  return button;
}

// Light, dark, or what the system prefers; paper is light.

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

function chosenTheme() {
  try {
    return localStorage.getItem("aucbench-theme") || "";
  } catch {
    return chosenTheme.kept || "";
  }
}

function chooseTheme(name) {
  chosenTheme.kept = name;
  try {
    localStorage.setItem("aucbench-theme", name);
  } catch {
    // kept for this visit only
  }
}

function applyTheme(forced) {
  document.documentElement.dataset.theme = forced || chosenTheme() || (prefersDark.matches ? "dark" : "light");
}

function themeButton() {
  const dark = document.documentElement.dataset.theme === "dark";
  return h("button", {
    type: "button", class: "plain", "data-key": "theme",
    onclick: () => {
      chooseTheme(dark ? "light" : "dark");
      applyTheme();
      keepingFocus(() => render(false));
    },
  }, dark ? "Light" : "Dark");
}

prefersDark.addEventListener("change", () => {
  applyTheme();
  render(false);
});
window.addEventListener("beforeprint", () => {
  printing = true;
  applyTheme("light");
  render(false);
});
window.addEventListener("afterprint", () => {
  printing = false;
  applyTheme();
  render(false);
});

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
  render(false);
  arrive(event.state?.y);
});
document.addEventListener("click", (event) => {
  document.querySelectorAll("details.chooser[open]").forEach((each) => { if (!event.composedPath().includes(each)) each.open = false; });
});

// Escape closes what is open, and the focus returns to what opened it.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  hint.hidden = true;
  document.querySelectorAll("details.chooser[open]").forEach((each) => {
    const inside = each.contains(document.activeElement);
    each.open = false;
    if (inside) each.querySelector("summary").focus();
  });
});

// Touch screens show no tooltips, so show the title at the bottom of the screen.
const hint = h("p", { class: "hint", role: "status", hidden: true });
document.body.append(hint);
document.addEventListener("click", (event) => {
  const sign = event.target.closest?.(".nothing, .mark");
  hint.hidden = !sign;
  hint.textContent = sign?.title ?? "";
});

let seen = 0;
window.addEventListener("resize", () => {
  clearTimeout(seen);
  seen = setTimeout(() => {
    if (room() !== measured()) keepingFocus(() => render(false));
  }, 120);
});

if ("scrollRestoration" in history) history.scrollRestoration = "manual";
applyTheme();
render(false);
if (state.at || history.state?.y) arrive(history.state?.y);
