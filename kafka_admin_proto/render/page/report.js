"use strict";
const tip = document.getElementById("tip");

// ---- numbers of a mark, at the pointer or by keys: a plot is one stop of Tab, arrows go through it

function showTip(mark) {
  tip.textContent = mark.dataset.tip;
  tip.hidden = false;
  const hit = mark.querySelector(".hit").getBoundingClientRect(), width = tip.offsetWidth;
  const middle = hit.left + hit.width / 2 - width / 2;
  const left = Math.max(4, Math.min(middle, document.documentElement.clientWidth - width - 4));
  const above = hit.top - tip.offsetHeight - 6;
  tip.style.left = `${left + window.scrollX}px`;
  tip.style.top = `${(above < 0 ? hit.bottom + 6 : above) + window.scrollY}px`;
}

function hideTip() { tip.hidden = true; }

for (const plot of document.querySelectorAll("svg.plot")) {
  const marks = [...plot.querySelectorAll(".mark")];
  if (!marks.length) continue;
  let current = 0;
  marks[0].tabIndex = 0;
  const go = (index) => {
    marks[current].tabIndex = -1;
    current = Math.max(0, Math.min(index, marks.length - 1));
    marks[current].tabIndex = 0;
    marks[current].focus();
  };
  marks.forEach((mark, index) => {
    mark.addEventListener("mouseenter", () => showTip(mark));
    mark.addEventListener("mouseleave", hideTip);
    mark.addEventListener("focus", () => { if (index !== current) go(index); showTip(mark); });
    mark.addEventListener("blur", hideTip);
  });
  plot.addEventListener("keydown", (event) => {
    const to = { ArrowRight: current + 1, ArrowDown: current + 1, ArrowLeft: current - 1,
      ArrowUp: current - 1, Home: 0, End: marks.length - 1 }[event.key];
    if (event.key === "Escape") hideTip();
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(to);
  });
}

// ---- tables: sorted by a column, and only the rows with some text

function sortable(table) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column];
      const compare = (one, other) => {
        const a = key(one), b = key(other);
        if (a.dataset.sort !== undefined && b.dataset.sort !== undefined) {
          return Number(a.dataset.sort) - Number(b.dataset.sort);
        }
        return a.textContent.localeCompare(b.textContent, "en", { numeric: true });
      };
      const rows = [...body.rows].sort(compare);
      body.append(...(down ? rows.reverse() : rows));
    });
  });
}

function filtered(table) {
  const label = document.createElement("label"), input = document.createElement("input");
  const count = document.createElement("span"), rows = [...table.tBodies[0].rows];
  label.className = "filter";
  input.type = "search";
  input.spellcheck = false;
  count.setAttribute("role", "status");
  label.append("Filter ", input, " ", count);
  table.parentElement.before(label);
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    let left = 0;
    for (const row of rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      left += !row.hidden;
    }
    count.textContent = wanted ? `${left} of ${rows.length} rows` : "";
  });
}

// ---- a table that is wider than its box has a paragraph for each row instead

const widths = new WeakMap();

function fit(table) {
  const width = table.parentElement.clientWidth;
  if (widths.get(table) === width) return;
  widths.set(table, width);
  if (table.tBodies[0].rows.length && !("name" in table.tBodies[0].rows[0].cells[0].dataset)) {
    const names = [...table.tHead.rows[0].cells].map((head) => head.textContent);
    for (const row of table.tBodies[0].rows) {
      [...row.cells].forEach((cell, column) => { cell.dataset.name = names[column]; });
    }
  }
  table.classList.remove("stacked");
  table.classList.toggle("stacked", table.offsetWidth > width);
}

const fitted = new ResizeObserver((changes) => requestAnimationFrame(() => {
  for (const { target } of changes) fit(target.firstElementChild);
}));

for (const table of document.querySelectorAll("table")) {
  sortable(table);
  if (table.dataset.filter !== undefined) filtered(table);
  fit(table);
  fitted.observe(table.parentElement);
}
