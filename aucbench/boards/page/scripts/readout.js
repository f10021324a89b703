// What a picture of lines says at the place of the pointer, or of the arrow keys.

function readout({ box, svg, cursor, drawn, groups, pad, width, xScale, x, y }) {
  const note = h("div", { class: "readout", role: "status", hidden: true });
  let place = null;
  box.append(note);

  const hide = () => {
    note.hidden = true;
    cursor.setAttribute("d", "");
    emphasised(groups, null);
    place = null;
  };

  const show = (at, height) => {
    place = Math.min(Math.max(at, pad.left), width - pad.right);
    const found = drawn.map((each) => ({ each, point: lastBefore(each.points, place + 0.5) })).filter(({ point }) => point);
    found.sort((a, b) => b.each.ys[b.point.k] - a.each.ys[a.point.k]);
    const near = height === null ? null : nearest(found, height);
    emphasised(groups, near);
    cursor.setAttribute("d", `M${place.toFixed(1)} ${pad.top}V${pad.bottom}`);
    note.hidden = false;
    note.replaceChildren(
      h("p", null, `${x.short} ${x.format(xScale.value(place))}`),
      found.length
        ? h("table", null, found.map(({ each, point }) => h("tr", { class: each.method === near ? "near" : null },
          h("th", { scope: "row" }, swatch(each.method), short(each.method, 22)),
          h("td", null, y.format(each.ys[point.k])),
          h("td", { class: "soft" }, known(each.low?.[point.k]) && known(each.high?.[point.k]) ? `${y.format(each.low[point.k])} – ${y.format(each.high[point.k])}` : ""))))
        : h("p", null, "no line has begun"));
    note.style.left = `${aside(note.offsetWidth, box.clientWidth, found.length > 8)}px`;
  };

  // Beside the cursor; a long one at the other end of the picture, where it covers least.
  const aside = (own, whole, long) => {
    if (place > width / 2) return long ? pad.left + 8 : Math.max(0, place - own - 14);
    return long ? Math.max(0, whole - own) : Math.min(place + 14, Math.max(0, whole - own));
  };

  const follow = (event) => {
    const frame = svg.getBoundingClientRect();
    const at = event.clientX - frame.left;
    if (at > width - pad.right + 8) hide();
    else show(at, event.clientY - frame.top);
  };
  svg.addEventListener("pointermove", follow);
  svg.addEventListener("pointerdown", follow);
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      show((place ?? pad.left) + (step * (width - pad.right - pad.left)) / 40, null);
      event.preventDefault();
    } else if (event.key === "Escape") hide();
  });
}

function lastBefore(points, place) {
  let found = null;
  for (const point of points) {
    if (point.x > place) break;
    found = point;
  }
  return found;
}

function nearest(found, height) {
  let best = null;
  for (const { each, point } of found) {
    const away = Math.abs(point.y - height);
    if (away < 14 && (best === null || away < best.away)) best = { away, method: each.method };
  }
  return best?.method ?? null;
}
