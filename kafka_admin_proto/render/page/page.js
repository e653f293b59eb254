"use strict";
// Only the lines in view are in the document, so that a large frame costs no more than a small one.
const AHEAD = 12, DEPTHS = 7, INDENTS = 9, INDENT = 16, ROW = 22;
const WIDEST = 20; // pixels; hardly a character takes more, and a short text needs no measuring
const MOST_LINES = 4; // of a value and of a meaning in the tree; the detail has all of both
const GROUP = 1, FAULT = 2, REST = 3, SECRET = 4, DAMAGE = 5;
const REASONS = { [FAULT]: "stopped here", [DAMAGE]: "damaged" };
const MOST_PRINTED = 2000; // of fields, and of lines of bytes: some 45 pages each
const at = (id) => document.getElementById(id);
const blocks = [...document.querySelectorAll("script.frame")];
let frame = null;     // the frame shown
let shown = [];       // its nodes in view, neither closed nor filtered out
let place = new Map(); // node → its line in `shown`
let selected = -1, hovered = -1, cursor = 0;
let printing = false;
const narrow = matchMedia("(max-width: 700px)");
let WIDTH = 16;       // bytes of a line

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// ---- a frame and its tree

function read(index) {
  const block = blocks[index];
  const { hex, size, texts, shapes, nodes: numbers, left_out: leftOut } =
    JSON.parse(block.textContent);
  const bytes = new Int16Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const digits = hex.substr(2 * i, 2);
    bytes[i] = digits === "**" ? -1 : parseInt(digits, 16);
  }
  const nodes = [], above = [], owner = new Int32Array(bytes.length).fill(-1);
  let start = 0, tops = 0;
  for (let i = 0; 4 * i < numbers.length; i++) {
    const [depth, labelAt, typeAt, kind] = shapes[numbers[4 * i + 1]], label = texts[labelAt];
    const parent = depth ? above[depth - 1] : -1;
    above[depth] = i;
    const inside = parent < 0 ? "" : nodes[parent].path;
    const path = !inside || label.startsWith("[") ? inside + label : `${inside}.${label}`;
    const order = parent < 0 ? ++tops : ++nodes[parent].children;
    const own = start + numbers[4 * i];
    nodes.push({ start, end: own, depth, label, type: texts[typeAt],
      value: texts[numbers[4 * i + 2]], meaning: texts[numbers[4 * i + 3]], kind, parent, path,
      order, children: 0, last: i, own, closed: false, parity: 0 });
    start = own;
  }
  for (let i = nodes.length - 1; i >= 0; i--) {
    const { parent, last, end } = nodes[i];
    if (parent < 0) continue;
    nodes[parent].last = Math.max(nodes[parent].last, last);
    nodes[parent].end = Math.max(nodes[parent].end, end);
  }
  let parity = 0;
  nodes.forEach((node, i) => {
    if (node.kind === GROUP) return;
    parity ^= 1;
    node.parity = parity;
    owner.fill(i, node.start, node.own);
  });
  for (const node of nodes) node.siblings = node.parent < 0 ? tops : nodes[node.parent].children;
  return { index, size, leftOut, number: block.dataset.number, title: block.dataset.title,
    problem: block.dataset.problem, bytes, nodes, owner };
}

const hasChildren = (i) => frame.nodes[i].last > i;
const isBad = (node) => node.kind === FAULT || node.kind === DAMAGE;
const encloses = (i, j) => i <= j && j <= frame.nodes[i].last;

function matches(node, words) {
  const text = `${node.path} ${node.type} ${node.value} ${node.meaning}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function update() {
  const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const { nodes } = frame;
  shown = [];
  let found = 0;
  if (words.length) {
    const keep = new Uint8Array(nodes.length);
    for (let i = nodes.length - 1; i >= 0; i--) {
      nodes[i].found = matches(nodes[i], words);
      if (nodes[i].found) { keep[i] = 1; found++; }
      if (keep[i] && nodes[i].parent >= 0) keep[nodes[i].parent] = 1;
    }
    nodes.forEach((_, i) => { if (keep[i]) shown.push(i); });
  } else {
    for (let i = 0; i < nodes.length; i++) {
      nodes[i].found = false;
      shown.push(i);
      if (nodes[i].closed) i = nodes[i].last;
    }
  }
  place = new Map(shown.map((node, line) => [node, line]));
  at("count").textContent = words.length ? `${found} of ${nodes.length}` : `${nodes.length} fields`;
  layOut();
}

// The node itself, or the closed one that hides it; -1 where a filter does.
function visible(i) {
  while (i >= 0 && !place.has(i)) i = frame.nodes[i].parent;
  return i;
}

// ---- how many lines a field takes: its line is as high as its value and its meaning need

const pen = document.createElement("canvas").getContext("2d");
let penFont = "";

function widthOf(text, font) {
  if (penFont !== font) pen.font = penFont = font;
  return pen.measureText(text).width;
}

// As the browser breaks it: at spaces, and inside a word that is wider than the line.
function wrappedLines(text, font, width) {
  if (widthOf(text, font) <= width) return 1;
  const space = widthOf(" ", font);
  let lines = 1, used = 0;
  for (const word of text.split(" ")) {
    const size = widthOf(word, font);
    if (used && used + size > width) { lines++; used = 0; }
    const over = Math.floor(size / width);
    lines += over;
    used += size - over * width + space;
    if (lines >= MOST_LINES) return MOST_LINES;
  }
  return lines;
}

// At any character; one that is wider than others may leave room at the end of its line.
function brokenLines(text, font, width) {
  const size = widthOf(text.slice(0, 1000), font);
  return size <= width ? 1 : Math.min(MOST_LINES, Math.ceil(size / (width - widthOf("00", font))));
}

function layOut() {
  const head = document.querySelector(".fields .head"), family = (part) => getComputedStyle(part).fontFamily;
  const mono = `12.5px ${family(at("hex"))}`, sans = `13px ${family(at("tree"))}`, small = `11px ${family(at("tree"))}`;
  const columns = getComputedStyle(head).gridTemplateColumns.split(" ").map(parseFloat);
  const room = tree.room.clientWidth - 24, known = new Map();
  const count = (measure, text, font, width) => {
    if (text.length * WIDEST <= width) return 1;
    const key = `${font} ${width} ${text}`;
    if (!known.has(key)) known.set(key, measure(text, font, width));
    return known.get(key);
  };
  const code = (text, width) => count(brokenLines, text, mono, width);
  const words = (text, font, width) => count(wrappedLines, text, font, width);
  const tops = new Uint32Array(shown.length + 1);
  shown.forEach((i, line) => {
    const { depth, label, type, value, meaning, kind } = frame.nodes[i];
    const indent = INDENT * (Math.min(depth, INDENTS) + 1);
    const font = kind === FAULT || kind === DAMAGE ? `600 ${sans}` : sans;
    let lines;
    if (narrow.matches) {
      const field = Math.min(room * .7, indent + widthOf(label, mono));
      lines = Math.max(code(label, field + 1 - indent), code(value, Math.floor(room - 8 - field)));
      if (meaning) lines += words(meaning, font, room - indent);
    } else {
      lines = Math.max(code(label, columns[0] - indent), code(value, columns[1]),
        words(meaning, font, columns[2]), words(type, small, columns[3]));
    }
    tops[line + 1] = tops[line] + lines;
  });
  tree.resize(shown.length, tops);
}

// ---- panes

class Pane {
  constructor(id, make, paint) {
    this.box = at(id);
    this.room = this.box.querySelector(".room");
    this.make = make;
    this.paint = paint;
    this.lines = new Map();
    this.count = 0;
    this.tops = null; // lines above each of the items, where an item may have several
    this.box.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.box);
  }
  top(item) { return (this.tops ? this.tops[item] : item) * ROW; }
  // The item at a height: the last one that begins at it or above it.
  itemAt(height) {
    let low = 0, high = this.count - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.top(middle) <= height) low = middle;
      else high = middle - 1;
    }
    return low;
  }
  resize(count, tops = null) {
    this.count = count;
    this.tops = tops;
    this.room.style.height = `${this.top(printing ? Math.min(count, MOST_PRINTED) : count)}px`;
    for (const line of this.lines.values()) line.remove();
    this.lines.clear();
    this.draw();
  }
  draw() {
    let first = 0, last = Math.min(this.count, MOST_PRINTED) - 1;
    if (!printing) {
      first = Math.max(0, this.itemAt(this.box.scrollTop) - AHEAD);
      last = Math.min(this.count - 1, this.itemAt(this.box.scrollTop + this.box.clientHeight) + AHEAD);
    }
    for (const [i, line] of this.lines) {
      if (i < first || i > last) { line.remove(); this.lines.delete(i); }
    }
    for (let i = first; i <= last; i++) {
      if (this.lines.has(i)) continue;
      const line = this.make(i);
      line.style.top = `${this.top(i)}px`;
      line.style.height = `${this.top(i + 1) - this.top(i)}px`;
      this.lines.set(i, line);
      this.room.append(line);
    }
    this.paint();
  }
  show(line) {
    const top = this.top(line), end = this.top(line + 1), { scrollTop, clientHeight } = this.box;
    if (top < scrollTop) this.box.scrollTop = top - ROW;
    else if (end > scrollTop + clientHeight) this.box.scrollTop = end + ROW - clientHeight;
    this.draw();
  }
  get page() { return Math.max(1, Math.floor(this.box.clientHeight / ROW) - 1); }
}

function makeItem(line) {
  const i = shown[line], node = frame.nodes[i];
  const item = element("div", `line item i${Math.min(node.depth, INDENTS)}`);
  item.id = `field-${i + 1}`;
  item.dataset.node = i;
  item.setAttribute("role", "treeitem");
  item.setAttribute("aria-level", node.depth + 1);
  item.setAttribute("aria-posinset", node.order);
  item.setAttribute("aria-setsize", node.siblings);
  if (node.kind === GROUP) item.classList.add("group");
  if (isBad(node)) item.classList.add("fault");
  const field = element("span", "field");
  let sign = "";
  if (hasChildren(i)) {
    const open = !node.closed || filtering();
    item.setAttribute("aria-expanded", open);
    sign = open ? "▾" : "▸";
  }
  field.append(element("span", "twisty", sign));
  field.append(element("span", `label c${node.depth % DEPTHS}`, node.label));
  item.append(field, element("span", "value", node.value), element("span", "meaning", node.meaning),
    element("span", "type", node.type));
  return item;
}

function makeBytes(line) {
  const row = element("div", "line");
  row.setAttribute("role", "row");
  row.setAttribute("aria-rowindex", line + 1);
  const first = line * WIDTH;
  const offset = element("span", "offset", first.toString(16).padStart(6, "0"));
  offset.setAttribute("role", "rowheader");
  row.append(offset);
  const ascii = element("span", "ascii");
  ascii.setAttribute("aria-hidden", "true");
  for (let i = first; i < first + WIDTH; i++) {
    if (i >= frame.bytes.length) {
      row.append(element("span", i % 8 ? "b" : "b gap"));
      continue;
    }
    const value = frame.bytes[i], node = frame.nodes[frame.owner[i]];
    let kind = "";
    if (node) {
      kind = isBad(node) ? " fault" : node.kind === REST ? " rest" : ` c${node.depth % DEPTHS}`;
      if (node.parity) kind += " odd";
    }
    const masked = value < 0;
    const byte = element("span", `b${kind}${i % 8 || i === first ? "" : " gap"}${masked ? " masked" : ""}`,
      masked ? "**" : value.toString(16).padStart(2, "0"));
    byte.id = `byte-${i}`;
    byte.dataset.byte = i;
    byte.setAttribute("role", "gridcell");
    byte.setAttribute("aria-colindex", i - first + 1);
    const readable = value >= 0x20 && value < 0x7f;
    const sign = element("span", `a${kind}${readable ? "" : " dot"}`,
      readable ? String.fromCharCode(value) : masked ? "*" : "·");
    sign.dataset.byte = i;
    row.append(byte);
    ascii.append(sign);
  }
  row.append(ascii);
  return row;
}

function paintTree() {
  const lit = hovered < 0 ? -1 : visible(hovered), chosen = selected < 0 ? -1 : visible(selected);
  for (const item of tree.lines.values()) {
    const i = Number(item.dataset.node);
    item.classList.toggle("hover", i === lit);
    item.classList.toggle("mark", i === chosen);
    item.setAttribute("aria-selected", i === chosen);
  }
  point(tree.box, chosen < 0 ? "" : `field-${chosen + 1}`);
}

function paintBytes() {
  const marked = frame.nodes[selected], lit = frame.nodes[hovered];
  const within = (node, i) => node !== undefined && i >= node.start && i < node.end;
  for (const row of hex.lines.values()) {
    for (const cell of row.querySelectorAll("[data-byte]")) {
      const i = Number(cell.dataset.byte), mark = within(marked, i);
      cell.classList.toggle("mark", mark);
      cell.classList.toggle("hover", !mark && within(lit, i));
      if (cell.classList.contains("b")) {
        cell.classList.toggle("cursor", i === cursor);
        cell.setAttribute("aria-selected", mark);
      }
    }
  }
  point(hex.box, `byte-${cursor}`);
}

function point(box, id) {
  if (id && at(id)) box.setAttribute("aria-activedescendant", id);
  else box.removeAttribute("aria-activedescendant");
}

function hover(i) {
  if (i === hovered) return;
  hovered = i;
  paintTree();
  paintBytes();
  const node = frame.nodes[i];
  at("hint").textContent = node ? `${span(node)} · ${node.path}${node.value ? " = " + node.value : ""}` : "";
}

function span(node) {
  const size = node.end - node.start;
  if (size === 0) return `at byte ${node.start}, no bytes`;
  if (size === 1) return `byte ${node.start} (0x${node.start.toString(16)})`;
  const last = node.end - 1;
  return `bytes ${node.start}–${last} (0x${node.start.toString(16)}–0x${last.toString(16)}), ${size} bytes`;
}

function select(i, byte) {
  if (i === undefined || i < 0 || i >= frame.nodes.length) return;
  const node = frame.nodes[i];
  selected = i;
  cursor = byte === undefined ? Math.min(node.start, Math.max(0, frame.bytes.length - 1)) : byte;
  let changed = false;
  for (let up = node.parent; up >= 0; up = frame.nodes[up].parent) {
    if (frame.nodes[up].closed) { frame.nodes[up].closed = false; changed = true; }
  }
  if (at("filter").value && !place.has(i)) { at("filter").value = ""; changed = true; }
  if (changed) update();
  tree.show(place.get(i));
  hex.show(Math.floor(cursor / WIDTH));
  paintTree();
  paintBytes();
  describe(node);
  history.replaceState(null, "", `#frame-${frame.number}-field-${i + 1}`);
}

function describe(node) {
  const detail = at("detail");
  detail.replaceChildren();
  const own = Array.from(frame.bytes.subarray(node.start, Math.min(node.end, node.start + 256)),
    (value) => (value < 0 ? "**" : value.toString(16).padStart(2, "0"))).join(" ");
  let more = node.end - node.start > 256 ? " …" : "";
  const { length } = frame.bytes;
  if (node.end > length) more += ` (left out of this page from byte ${length} on)`;
  const lines = [["field", node.path, "code"], ["place", span(node)], ["type", node.type],
    ["value", node.value, "code"], [REASONS[node.kind] || "meaning", node.meaning],
    ["bytes", own + more, "code"]];
  for (const [name, text, className] of lines) {
    if (text) detail.append(element("dt", "", name), element("dd", className, text));
  }
}

// While a filter is set all that it leaves is open.
const filtering = () => at("filter").value.trim() !== "";

function toggle(i, closed) {
  if (filtering() || !hasChildren(i)) return;
  frame.nodes[i].closed = closed;
  const { scrollTop } = tree.box;
  update();
  tree.box.scrollTop = scrollTop;
  if (encloses(i, selected)) select(i);
}

// ---- the frames' list

function listFrames() {
  const list = at("frames");
  at("list").hidden = blocks.length < 2;
  at("main").classList.toggle("single", blocks.length < 2);
  blocks.forEach((block, index) => {
    const { title, problem, time, client, errors } = block.dataset;
    const item = element("div", problem ? "frame-item bad" : "frame-item");
    const [name, ...about] = title.split(", "), wrong = [errors, problem].filter(Boolean).join("; ");
    item.id = `frame-${index}`;
    item.dataset.frame = index;
    item.setAttribute("role", "option");
    item.append(element("span", "number", block.dataset.number), element("span", "name", name),
      element("span", "time", time), element("span", "client", client),
      element("span", "error", wrong), element("span", "about", about.join(", ")));
    item.title = [title, time, client, wrong].filter(Boolean).join("\n");
    list.append(item);
  });
}

function resizeBytes() {
  hex.resize(Math.ceil(frame.bytes.length / WIDTH));
  hex.box.setAttribute("aria-rowcount", hex.count);
}

function choose(index, node) {
  if (index < 0 || index >= blocks.length) return;
  if (frame === null || frame.index !== index) {
    if (frame !== null) at(`frame-${frame.index}`).setAttribute("aria-selected", "false");
    frame = read(index);
    selected = hovered = -1;
    at("filter").value = "";
    const item = at(`frame-${index}`);
    item.setAttribute("aria-selected", "true");
    at("frames").setAttribute("aria-activedescendant", item.id);
    const bring = () => item.scrollIntoView({ block: "nearest" });
    bring();
    // Items have their heights when they are drawn: those above it move it out of view again.
    requestAnimationFrame(() => requestAnimationFrame(bring));
    at("title").textContent = `${frame.number}. ${frame.title}`;
    document.title = `${frame.number}. ${frame.title}`;
    at("problem").hidden = !frame.problem;
    at("problem-text").textContent = frame.problem;
    at("left-out").hidden = !frame.leftOut;
    at("left-out").textContent = `Left out of this page, as the frame has ${frame.size} bytes and `
      + `a browser would be slow: ${frame.leftOut}. kap explain without --html shows all.`;
    at("problem-go").hidden = !frame.nodes.some((each) => each.kind === FAULT);
    tree.box.scrollTop = hex.box.scrollTop = 0;
    update();
    resizeBytes();
  }
  const fault = frame.nodes.findIndex(isBad);
  select(node === undefined ? Math.max(fault, 0) : Math.min(node, frame.nodes.length - 1));
}

function followLink() {
  const found = /^#frame-(\d+)(?:-field-(\d+))?$/.exec(location.hash);
  const index = found ? blocks.findIndex((block) => block.dataset.number === found[1]) : -1;
  choose(Math.max(index, 0), index >= 0 && found[2] ? Math.max(Number(found[2]) - 1, 0) : undefined);
}

// ---- hands

function onTreeKey(event) {
  const line = place.get(visible(selected)) ?? 0, i = shown[line];
  if (i === undefined) return; // the filter finds nothing
  const to = (next) => select(shown[Math.max(0, Math.min(shown.length - 1, next))]);
  const actions = {
    ArrowDown: () => to(line + 1), ArrowUp: () => to(line - 1),
    PageDown: () => to(line + tree.page), PageUp: () => to(line - tree.page),
    Home: () => to(0), End: () => to(shown.length - 1),
    ArrowRight: () => {
      if (frame.nodes[i].closed && !filtering()) toggle(i, false);
      else if (encloses(i, shown[line + 1])) to(line + 1);
    },
    ArrowLeft: () => {
      if (hasChildren(i) && !frame.nodes[i].closed && !filtering()) toggle(i, true);
      else if (frame.nodes[i].parent >= 0) select(frame.nodes[i].parent);
    },
    Enter: () => toggle(i, !frame.nodes[i].closed),
  };
  act(event, actions);
}

function onHexKey(event) {
  const to = (next) => {
    const byte = Math.max(0, Math.min(frame.bytes.length - 1, next));
    if (frame.owner[byte] >= 0) select(frame.owner[byte], byte);
  };
  act(event, {
    ArrowRight: () => to(cursor + 1), ArrowLeft: () => to(cursor - 1),
    ArrowDown: () => { if (cursor + WIDTH < frame.bytes.length) to(cursor + WIDTH); },
    ArrowUp: () => { if (cursor >= WIDTH) to(cursor - WIDTH); },
    PageDown: () => to(cursor + WIDTH * hex.page), PageUp: () => to(cursor - WIDTH * hex.page),
    Home: () => to(event.ctrlKey ? 0 : cursor - (cursor % WIDTH)),
    End: () => to(event.ctrlKey ? frame.bytes.length - 1 : cursor - (cursor % WIDTH) + WIDTH - 1),
  });
}

function onFilterKey(event) {
  act(event, {
    Enter: () => {
      const found = shown.filter((i) => frame.nodes[i].found);
      if (found.length) select(found.find((i) => i > selected) ?? found[0]);
    },
    Escape: () => { at("filter").value = ""; update(); select(selected); tree.box.focus(); },
  });
}

function act(event, actions) {
  if (event.altKey || event.metaKey || !Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]();
}

const tree = new Pane("tree", makeItem, () => frame && paintTree());
const hex = new Pane("hex", makeBytes, () => frame && paintBytes());

const nodeUnder = (event) => event.target.closest("[data-node]")?.dataset.node;
const byteUnder = (event) => event.target.closest("[data-byte]")?.dataset.byte;

tree.box.addEventListener("mouseover", (event) => hover(Number(nodeUnder(event) ?? -1)));
hex.box.addEventListener("mouseover", (event) => {
  const byte = byteUnder(event);
  hover(byte === undefined ? -1 : frame.owner[byte]);
});
for (const pane of [tree, hex]) pane.box.addEventListener("mouseleave", () => hover(-1));
tree.box.addEventListener("click", (event) => {
  const i = nodeUnder(event);
  if (i === undefined) return;
  if (event.target.closest(".twisty")) toggle(Number(i), !frame.nodes[i].closed);
  else select(Number(i));
});
tree.box.addEventListener("dblclick", (event) => {
  const i = nodeUnder(event);
  if (i !== undefined && !event.target.closest(".twisty")) toggle(Number(i), !frame.nodes[i].closed);
});
hex.box.addEventListener("click", (event) => {
  const byte = byteUnder(event);
  if (byte !== undefined && frame.owner[byte] >= 0) select(frame.owner[byte], Number(byte));
});
tree.box.addEventListener("keydown", onTreeKey);
hex.box.addEventListener("keydown", onHexKey);
at("filter").addEventListener("input", () => { update(); tree.box.scrollTop = 0; tree.draw(); });
at("filter").addEventListener("keydown", onFilterKey);
at("frames").addEventListener("click", (event) => {
  const item = event.target.closest("[data-frame]");
  if (item) choose(Number(item.dataset.frame));
});
at("frames").addEventListener("keydown", (event) => act(event, {
  ArrowDown: () => choose(frame.index + 1), ArrowUp: () => choose(frame.index - 1),
  Home: () => choose(0), End: () => choose(blocks.length - 1),
}));
at("problem-go").addEventListener("click", () => {
  select(frame.nodes.findIndex((each) => each.kind === FAULT));
  hex.box.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === at("filter")) return;
  event.preventDefault();
  at("filter").focus();
});
addEventListener("hashchange", followLink);
function print(now) {
  printing = now;
  for (const pane of [tree, hex]) {
    const { scrollTop } = pane.box;
    pane.resize(pane.count, pane.tops);
    pane.box.scrollTop = scrollTop;
  }
  const parts = [[tree, "fields"], [hex, "lines of bytes"]]
    .filter(([pane]) => now && pane.count > MOST_PRINTED)
    .map(([pane, what]) => `the first ${MOST_PRINTED} of ${pane.count} ${what}`);
  at("printed").textContent = parts.length ? `Printed: ${parts.join(", ")}.` : "";
}
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));

// ---- the width of the window: half as many bytes in a line of a narrow one

function fitBytes() {
  WIDTH = narrow.matches ? 8 : 16;
  hex.box.setAttribute("aria-colcount", WIDTH);
  at("columns").replaceChildren(...Array.from({ length: WIDTH }, (_, i) =>
    element("span", i === 8 ? "b gap" : "b", i.toString(16).padStart(2, "0"))));
  if (frame !== null) resizeBytes();
}

fitBytes();
narrow.addEventListener("change", fitBytes);
let roomBefore = 0;
new ResizeObserver(() => {
  if (frame === null || tree.room.clientWidth === roomBefore) return;
  roomBefore = tree.room.clientWidth;
  layOut();
  tree.show(place.get(visible(selected)) ?? 0);
}).observe(tree.room);
if (blocks.length) {
  listFrames();
  followLink();
  (blocks.length > 1 ? at("frames") : tree.box).focus({ focusVisible: false });
} else {
  at("main").replaceChildren(element("p", "empty", "There are no frames in the input."));
}
