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

function commandBox(command) {
  return h("div", { class: "command" }, h("code", { tabindex: 0 }, command), copyButton("Copy", command, "Copy the command"));
}
