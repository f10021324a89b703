// How often a method is near the best.

function profileSection(overall) {
  const found = [...overall.profile].filter(([, points]) => points[0].length);
  if (!found.length) return null;
  const rows = found.map(([method]) => ({ method, auc: { value: -(overall.ranks.get(method)?.value ?? Infinity) } }));
  const place = new Map(rows.map((row, index) => [row.method, index]));
  const end = Math.max(...found.map(([, points]) => settled(points)));
  const xs = found.flatMap(([, [ratio]]) => ratio).filter((ratio) => known(ratio) && ratio <= end);
  const log = Math.min(...xs) > 0 && Math.max(...xs) / Math.min(...xs) > 20;
  return section("profile", "Performance profile",
    live(["hide"], () => {
      const shown = found.filter(([method]) => !state.hide.includes(method));
      if (!shown.length) return h("p", { class: "empty" }, "All methods are hidden.");
      return lineplot({
        series: shown.map(([method, [ratio, share]]) => ({ method, index: place.get(method), xs: ratio.filter((x) => x <= end), ys: share })),
        width: room(), height: room() > 700 ? 380 : 300, stepped: true, bands: false,
        x: { kind: log ? "log" : "linear", label: "(1 − AUC) relative to the best method", short: "within a factor of", format: (value) => String(Number(value.toPrecision(3))) },
        y: { low: 0, high: 1, label: "share of data sets", format: percent, tick: percent },
        label: "Performance profile. Arrow keys read out values.",
      });
    }),
    legend(rows),
    reading("The share of data sets (height) on which 1 − AUC of a method is within a factor (x axis) of that of the best method; higher is better. ",
      "The value at the left edge is the share of data sets on which it is best. ", notesOn("profile").join(" ")));
}

// The ratio from which on nothing changes, and a little more.
function settled([ratio, share]) {
  const last = share[share.length - 1];
  return ratio[Math.min(share.findIndex((each) => each === last) + 2, ratio.length - 1)];
}
