"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const rows = [...document.querySelectorAll("[data-row]")];
const what = document.getElementById("what"), fields = document.getElementById("fields");
const states = document.getElementById("states");
/* Rows of the start are folded: the first one that is seen is the one that a key comes to. */
const first = rows.findIndex((row) => !row.closest("details"));
let kept = -1, current = Math.max(0, first);
rows.forEach((row, at) => { row.tabIndex = at === current ? 0 : -1; });

function element(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/* What each column knows behind a row, and which of it is new in that row. */
function statesAt(number) {
  const known = new Map(), before = new Map();
  for (let at = 0; at <= number; at++) {
    for (const [column, state] of data.rows[at].states) {
      if (at === number) before.set(column, new Map(known.get(column) || []));
      known.set(column, state);
    }
  }
  return [known, before];
}

function show(number) {
  const row = data.rows[number];
  what.textContent = `${row.at} ms: ${row.title}`;
  for (const quiet of document.querySelectorAll("#message .quiet")) quiet.remove();
  fields.replaceChildren(...row.fields.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
  const [known, before] = statesAt(number);
  states.replaceChildren(...data.columns.flatMap((name, column) => {
    const state = known.get(column);
    if (!state) return [];
    const box = element("details", "");
    box.open = true;
    box.append(element("summary", name));
    const list = document.createElement("dl");
    const old = before.get(column);
    for (const [key, value] of state) {
      const changed = old !== undefined && old.get(key) !== value;
      list.append(element("dt", key), element("dd", value, changed ? "changed" : ""));
    }
    box.append(list);
    return [box];
  }));
  for (const each of document.querySelectorAll(".row.shown")) each.classList.remove("shown");
  rows[number].classList.add("shown");
}

function go(number) {
  rows[current].tabIndex = -1;
  current = Math.max(0, Math.min(number, rows.length - 1));
  rows[current].tabIndex = 0;
  const folded = rows[current].closest("details");
  if (folded) folded.open = true;
  rows[current].focus();
}

const numberOf = (event) => {
  const row = event.target.closest("[data-row]");
  return row ? Number(row.dataset.row) : -1;
};
const list = document.getElementById("rows");
list.addEventListener("mouseover", (event) => { const at = numberOf(event); if (at >= 0 && kept < 0) show(at); });
list.addEventListener("click", (event) => {
  const at = numberOf(event);
  if (at < 0) return;
  kept = kept === at ? -1 : at;
  show(at);
  rows[at].classList.toggle("kept", kept === at);
  for (const each of document.querySelectorAll(".row.kept")) if (each !== rows[kept]) each.classList.remove("kept");
});
list.addEventListener("focusin", (event) => { const at = numberOf(event); if (at >= 0 && kept < 0) { current = at; show(at); } });
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  kept = -1;
  for (const each of document.querySelectorAll(".row.kept")) each.classList.remove("kept");
});
list.addEventListener("keydown", (event) => {
  const to = { ArrowDown: current + 1, ArrowUp: current - 1, PageDown: current + 20, PageUp: current - 20, Home: 0, End: rows.length - 1 }[event.key];
  if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  go(to);
});
