// Elements from plain data: a text becomes a text node, never markup.

function h(tag, attributes, ...children) {
  return assemble(document.createElement(tag), attributes, children);
}

function s(tag, attributes, ...children) {
  return assemble(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function assemble(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "vars") Object.entries(value).forEach(([key, cssValue]) => node.style.setProperty(key, cssValue));
    else if (name === "go") setLink(node, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// Makes a node a link inside the page, which changes the state.
function setLink(node, change) {
  node.dataset.go = JSON.stringify(change);
  node.setAttribute("href", address({ ...state, id: "", ...change }));
}

function section(id, title, ...children) {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title`, tabindex: -1 }, title), children);
}

function reading(...parts) {
  return h("p", { class: "reading" }, parts);
}

function countText(count, noun) {
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

function truncate(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

// A selection list; the chosen value is stored in the state under `name`.
function select(label, name, choices, selection, onSelect = (value) => set({ [name]: value })) {
  return h("label", { class: "field" }, h("span", null, label),
    h("select", { "data-key": name, onchange: (event) => onSelect(event.target.value) },
      choices.map(([value, text]) => h("option", { value, selected: value === selection }, text))));
}

function toggle(label, name, choices) {
  return h("div", { class: "toggle", role: "group", "aria-label": label }, h("span", { class: "label" }, label), choices.map(([value, text]) => h("button", {
    type: "button", "aria-pressed": String(state[name] === value), "data-key": `${name}-${value}`, onclick: () => set({ [name]: value }),
  }, text)));
}

// The width that is available for a picture.
function room() {
  const view = document.getElementById("view");
  const style = getComputedStyle(view);
  return Math.max(260, view.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
}
