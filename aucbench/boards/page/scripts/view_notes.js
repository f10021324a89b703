// How the numbers were made.

function notesView() {
  const marks = [["–", "not known; hover or tap for the reason"], ["†", "a time that cannot be compared with the others'"], ["‡", "a method exempt from a check"], ["§", "a tuning chose a value at the edge of the values tried"], ["!", "some runs diverged, failed or are missing"]];
  return [
    heading1("Notes"),
    section("made", "How the numbers were made", report.notes.length ? h("ul", { class: "notes" }, report.notes.map((note) => h("li", null, note))) : h("p", null, "No notes are recorded.")),
    section("signs", "Symbols", h("dl", { class: "facts" }, marks.map(([sign, text]) => h("div", { class: "long" }, h("dt", null, sign), h("dd", null, text))))),
    section("page", "This page", h("ul", { class: "notes" },
      h("li", null, "Filters, order, columns, hidden methods and scales are stored in the URL: copy it, and another reader of this file sees the same."),
      h("li", null, "Every method has one colour, one dash pattern and one marker, everywhere."),
      h("li", null, `Made by aucbench ${report.version} on ${report.made || "an unknown date"}; the cells ran on ${report.machines || "unknown processors"}.`))),
  ];
}
