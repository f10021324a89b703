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
  applyTheme("light");
  render(false);
});
window.addEventListener("afterprint", () => {
  applyTheme();
  render(false);
});
