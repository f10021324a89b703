// How the numbers were made.

function notesView() {
  const marks = [["–", "not known; the pointer resting on it says why"], ["†", "a time that cannot be compared with the others'"], ["‡", "a method exempt from a check"], ["!", "some runs diverged, failed or are missing"]];
  return [
    heading1("Notes"),
    section("made", "How the numbers were made", report.notes.length ? h("ul", { class: "notes" }, report.notes.map((note) => h("li", null, note))) : h("p", null, "No notes are recorded.")),
    section("signs", "Signs", h("dl", { class: "facts" }, marks.map(([sign, text]) => h("div", { class: "long" }, h("dt", null, sign), h("dd", null, text))))),
    section("page", "This page", h("ul", { class: "notes" },
      h("li", null, "Filters, order, columns, hidden methods and scales stand in the address: copy it, and another reader of this file sees the same."),
      h("li", null, "Every method has one colour, one dash pattern and one marker, everywhere."),
      h("li", null, `Made by aucbench ${report.version} on ${report.made || "an unknown date"}; the cells ran on ${report.machines || "unknown processors"}.`))),
  ];
}
