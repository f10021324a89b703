// Elements from plain data: a text becomes a text node, never markup.

function h(tag, attributes, ...children) {
  return furnished(document.createElement(tag), attributes, children);
}

function s(tag, attributes, ...children) {
  return furnished(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function furnished(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "vars") Object.entries(value).forEach(([key, each]) => node.style.setProperty(key, each));
    else if (name === "go") linked(node, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// A link inside the page: where it leads is a change of the state.
function linked(node, change) {
  node.dataset.go = JSON.stringify(change);
  node.setAttribute("href", address(arriving(change)));
}

// A dash where nothing is known, which says why.
function nothing(reason) {
  return h("span", { class: "nothing", title: reason, role: "img", "aria-label": reason }, "–");
}

function section(id, title, ...children) {
  const node = h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title`, tabindex: -1 }, title), children);
  node.append(saves(id, title, node) ?? "");
  return node;
}

function reading(...words) {
  return h("p", { class: "reading" }, words);
}

function figure(picture, ...words) {
  return h("figure", null, picture, h("figcaption", { class: "reading" }, words));
}

function list(names) {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}

function many(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

function short(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

let printing = false; // whether the page is being drawn for paper

// The columns of a matrix with the given names of lines: on paper in parts of about equal size that fit a portrait A4 page.
function partsOf(columns, names) {
  if (!printing) return [columns];
  const most = Math.max(1, Math.floor((687 - 4.4 * Math.max(...names.map((name) => name.length))) / 30)); // pixels, at the print sizes of page.css
  const size = Math.ceil(columns.length / Math.ceil(columns.length / most));
  return Array.from({ length: Math.ceil(columns.length / size) }, (_, k) => columns.slice(k * size, (k + 1) * size));
}

// The width that a picture may take, measured once per drawing.
function room() {
  room.width = room.width || measured();
  return room.width;
}

function measured() {
  const view = document.getElementById("view");
  const style = getComputedStyle(view);
  return Math.max(280, view.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
}
