// Which methods stand out, alike in all pictures: at most eight have colours, the others are grey.
// And the method under the pointer or the focus, which all pictures emphasise at once.

const MOST = 8;
const HIGHLIGHT = ["lit", "grey", "others"]; // the fields of the state that decide

// The baseline and the best; `names` are best first.
function usualHighlights(names, baseline) {
  const others = names.filter((name) => name !== baseline);
  return names.includes(baseline) ? [baseline, ...others.slice(0, MOST - 1)] : others.slice(0, MOST);
}

// Those that the reader chose, then the baseline and the best.
function highlights(names, baseline) {
  const chosen = state.lit.filter((name) => names.includes(name)).slice(-MOST);
  const usual = usualHighlights(names, baseline).filter((name) => !chosen.includes(name) && !state.grey.includes(name));
  return new Set([...chosen, ...usual].slice(0, MOST));
}

// What a picture shows, the highlighted ones last and so on top.
function visible(items, lit) {
  const own = items.filter(({ method }) => lit.has(method));
  return state.others === "0" ? own : [...items.filter(({ method }) => !lit.has(method)), ...own];
}

function without(names, name) {
  return names.filter((each) => each !== name);
}

// A button for each method, best first: a click highlights it or turns it grey.
function legend(names, baseline) {
  const usual = usualHighlights(names, baseline);
  const choose = (name, lit) => set(lit.has(name)
    ? { lit: without(state.lit, name), grey: [...without(state.grey, name), name] }
    : { lit: [...without(state.lit, name), name].slice(-MOST), grey: without(state.grey, name) });
  return live(HIGHLIGHT, () => {
    const lit = highlights(names, baseline);
    return [
      h("div", { class: "row" },
        h("button", { type: "button", "data-key": "show-usual", title: "Highlight the baseline and the best", onclick: () => set({ lit: [], grey: [] }) }, "Best and baseline"),
        h("button", { type: "button", "data-key": "show-none", onclick: () => set({ lit: [], grey: usual }) }, "None"),
        h("label", { class: "check" }, h("input", {
          type: "checkbox", checked: state.others !== "0", "data-key": "others", onchange: (event) => set({ others: event.target.checked ? "" : "0" }),
        }), " others in grey")),
      h("div", { class: "keys" }, names.map((name) => h("button", {
        type: "button", class: lit.has(name) ? "key" : "key rest", "aria-pressed": String(lit.has(name)), "data-key": `key-${name}`, "data-method": name,
        title: `Click to highlight (at most ${MOST} methods); with Shift, this one alone`,
        onclick: (event) => (event.shiftKey ? set({ lit: [name], grey: without(usual, name) }) : choose(name, lit)),
      }, swatch(name), h("span", null, name)))),
    ];
  }, { class: "legend", role: "group", "aria-label": "Methods highlighted" });
}

let emphasised = null;

// Every mark of a method, in pictures, legends and tables, is made bright; null: none.
function emphasise(method) {
  if (method === emphasised) return;
  emphasised = method;
  drawEmphasis();
}

function drawEmphasis() {
  const view = document.getElementById("view");
  view.querySelectorAll(".bright, .linked").forEach((node) => node.classList.remove("bright", "linked"));
  if (emphasised === null) return;
  for (const node of view.querySelectorAll("[data-method]")) {
    if (node.dataset.method !== emphasised) continue;
    node.classList.add("bright");
    node.closest(".plot")?.classList.add("linked");
  }
}

// Pictures of lines and points find the nearest method themselves; all else is asked for what is under the pointer.
function methodAt(event) {
  return event.target.closest?.("[data-method]")?.dataset.method ?? null;
}

document.getElementById("view").addEventListener("pointerover", (event) => { if (!event.target.closest?.(".plotbox")) emphasise(methodAt(event)); });
document.getElementById("view").addEventListener("pointerleave", () => emphasise(null));
document.getElementById("view").addEventListener("focusin", (event) => { if (!event.target.closest?.(".plotbox")) emphasise(methodAt(event)); });
document.getElementById("view").addEventListener("focusout", () => emphasise(null));
