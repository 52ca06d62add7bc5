// Keys, filters, the matrix and live changes, for pages that can be read without them.
"use strict";

const root = document.documentElement;
const find = (selector, inside = document) => inside.querySelector(selector);
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

// Before the page is drawn, so that it never flashes in the wrong colours.
const remembered = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
if (remembered === "dark" || remembered === "light") root.dataset.theme = remembered;

function switchTheme() {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* nobody remembers, then */ }
  matrix?.recolour();
}

// ---- Lists: a filter, an order, a row that keys move ----

function filterRows() {
  const input = find("#filter[data-rows]");
  if (!input) return;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = all(`${input.dataset.rows} tbody tr`);
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  const count = find("#count");
  if (count) count.dataset.all ??= count.textContent;
  if (count) count.textContent = words.length ? `${shown} of ${rows.length}` : count.dataset.all;
  const nothing = find(".nothing");
  if (nothing) nothing.hidden = shown > 0;
  remember("q", input.value);
}

function remember(name, value) {
  const address = new URL(location.href);
  if (value) address.searchParams.set(name, value); else address.searchParams.delete(name);
  if (address.href !== location.href) history.replaceState(null, "", address);
}

const NUMBERS = new Set(["score", "samples"]);
let order = null;

function sortRows(name, down) {
  const table = find("table.sortable");
  if (!table) return;
  const rows = all("tbody tr", table);
  const value = (row) => (NUMBERS.has(name) ? (row.dataset[name] === "" ? -1 : Number(row.dataset[name])) : row.dataset[name]);
  rows.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (down ? -1 : 1));
  find("tbody", table).append(...rows);
  for (const head of all("th", table)) {
    const button = find("[data-sort]", head);
    if (button?.dataset.sort === name) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  order = { name, down };
  remember("sort", (down ? "-" : "") + name);
}

const visible = () => all("[data-nav]").filter((row) => !row.hidden);

function move(step) {
  const rows = visible();
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.classList.contains("at"));
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step));
  rows[at]?.classList.remove("at");
  rows[next].classList.add("at");
  rows[next].scrollIntoView({ block: "nearest" });
}

function chosen() {
  const button = find("#compare-button");
  if (!button) return;
  const number = all("#runs input[type=checkbox]:checked").length;
  button.disabled = number < 2;
  button.textContent = number ? `Compare ${number}` : "Compare";
}

// ---- Keys ----

const follow = (selector) => find(selector)?.click();

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Enter: () => follow("[data-nav].at a"),
  x: () => { find("[data-nav].at input[type=checkbox]")?.click(); },
  c: () => follow("#compare-button:not(:disabled)"),
  ArrowLeft: () => follow("a[rel=prev]"),
  ArrowRight: () => follow("a[rel=next]"),
  d: () => follow("a[data-key=d]"),
  u: () => follow("[data-up]"),
  "/": () => find("#filter")?.focus(),
  t: switchTheme,
  "?": () => find("#help")?.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || find("dialog[open]")) return;
  const target = event.target;
  if (target.closest("input:not([type=checkbox]), select, textarea")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  if (event.key === "Enter" && target.closest("a, button, summary, [type=checkbox]")) return;
  if (event.key.startsWith("Arrow") && target.closest("#matrix, pre, .code, .diff, .tests")) return;
  const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
  if (act && (!event.key.startsWith("Arrow") || find("[data-nav], a[rel=prev], a[rel=next]"))) {
    event.preventDefault();
    act();
  }
});

document.addEventListener("click", (event) => {
  const act = event.target.closest("[data-do]")?.dataset.do;
  if (act === "help") find("#help")?.showModal();
  if (act === "theme") switchTheme();
  const sort = event.target.closest("[data-sort]")?.dataset.sort;
  if (sort) sortRows(sort, order?.name === sort ? !order.down : NUMBERS.has(sort) || sort === "time");
});
document.addEventListener("input", (event) => { if (event.target.matches("#filter[data-rows]")) filterRows(); });
document.addEventListener("change", (event) => {
  if (event.target.matches("#runs input")) chosen();
  if (event.target.matches("select[name=order]")) event.target.form.requestSubmit();
});

// ---- The matrix: only the rows in sight are drawn, and only those are asked for ----

const BLOCK = 100;
const ROW = 14;

class Matrix {
  constructor(box) {
    this.box = box;
    this.canvas = find("canvas", box);
    this.spacer = find(".spacer", box);
    this.letters = JSON.parse(find("#letters").textContent);
    this.blocks = new Map();
    this.total = 0;
    this.columns = 1;
    const embedded = find("#embedded");
    this.fixed = embedded ? JSON.parse(embedded.textContent) : null;
    box.addEventListener("scroll", () => this.draw());
    box.addEventListener("pointermove", (event) => this.point(event));
    box.addEventListener("click", (event) => this.open(event));
    new ResizeObserver(() => this.draw()).observe(box);
    this.recolour();
    this.load(0);
  }

  recolour() {
    const style = getComputedStyle(root);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    this.colours = { ".": colour("nothing") };
    for (const [letter, [outcome]] of Object.entries(this.letters)) this.colours[letter] = colour(outcome);
    this.ink = colour("quiet");
    this.paper = colour("paper");
    this.draw();
  }

  async load(block) {
    if (this.blocks.has(block)) return;
    this.blocks.set(block, null);
    let part;
    if (this.fixed) {
      const rows = this.fixed.rows.slice(block * BLOCK, (block + 1) * BLOCK);
      part = { ...this.fixed, total: this.fixed.rows.length, rows };
    } else {
      const { run, order, wanted } = this.box.dataset;
      const query = new URLSearchParams({ run, order, wanted, start: block * BLOCK, count: BLOCK });
      try {
        const answer = await fetch(`/matrix?${query}`);
        if (!answer.ok) throw new Error(String(answer.status));
        part = await answer.json();
      } catch {
        this.blocks.delete(block);  // it is asked for again when it comes into sight again
        return;
      }
    }
    if (this.blocks.size > 60) this.blocks.delete(this.blocks.keys().next().value);
    this.blocks.set(block, part.rows);
    this.total = part.total;
    this.columns = Math.max(1, part.columns);
    this.draw();
  }

  renew() {
    this.blocks.clear();
    this.load(Math.floor(this.box.scrollTop / ROW / BLOCK));
  }

  measure() {
    const room = this.box.clientWidth;
    this.label = Math.min(220, Math.max(90, room * 0.25));
    this.cell = Math.min(ROW, Math.max(5, Math.floor((room - this.label - 8) / this.columns)));
    this.width = Math.max(room, this.label + this.columns * this.cell + 8);
    this.height = Math.max(1, this.total) * ROW;
  }

  draw() {
    if (!this.colours) return;
    this.measure();
    const ratio = devicePixelRatio || 1;
    const view = { width: this.box.clientWidth, height: Math.min(460, this.height) };
    // A browser has no boxes of any height; beyond that, the list below and its filter help.
    this.spacer.style.width = `${this.width}px`;
    this.spacer.style.height = `${Math.min(this.height, 8e6)}px`;
    this.box.style.height = `${view.height + 2}px`;
    this.canvas.style.width = `${view.width}px`;
    this.canvas.style.height = `${view.height}px`;
    this.canvas.width = view.width * ratio;
    this.canvas.height = view.height * ratio;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.fillStyle = this.paper;
    pen.fillRect(0, 0, view.width, view.height);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const top = this.box.scrollTop;
    const left = this.box.scrollLeft;
    const first = Math.floor(top / ROW);
    const last = Math.min(this.total - 1, Math.ceil((top + view.height) / ROW));
    for (let row = first; row <= last; row += 1) this.drawRow(pen, row, row * ROW - top, left, view.width);
  }

  row(number) {
    const block = Math.floor(number / BLOCK);
    if (!this.blocks.has(block)) this.load(block);
    return this.blocks.get(block)?.[number % BLOCK];
  }

  drawRow(pen, number, y, left, width) {
    const row = this.row(number);
    if (!row) return;
    const [task, cells] = row;
    const from = Math.max(0, Math.floor((left - 8) / this.cell));
    const to = Math.min(this.columns, Math.ceil((left + width - this.label) / this.cell));
    for (let column = from; column < to; column += 1) {
      pen.fillStyle = this.colours[cells[column] ?? "."] ?? this.ink;
      pen.fillRect(this.label + column * this.cell - left, y + 1, Math.max(1, this.cell - 1), ROW - 2);
    }
    pen.fillStyle = this.paper;
    pen.fillRect(0, y, this.label, ROW);
    pen.fillStyle = this.ink;
    const most = Math.floor((this.label - 12) / 6.4);
    pen.fillText(task.length > most ? `${task.slice(0, 8)}…${task.slice(9 - most)}` : task, 8, y + ROW / 2 + 0.5);
  }

  under(event) {
    const area = this.box.getBoundingClientRect();
    const number = Math.floor((event.clientY - area.top + this.box.scrollTop) / ROW);
    const column = Math.floor((event.clientX - area.left + this.box.scrollLeft - this.label) / this.cell);
    const row = number < this.total ? this.row(number) : null;
    const first = row ? [...row[1]].findIndex((letter) => letter !== ".") : -1;
    return row ? { task: row[0], sample: column < 0 ? first : column, letter: row[1][column < 0 ? first : column], addresses: row[2] } : null;
  }

  point(event) {
    const at = this.under(event);
    const known = at?.letter && at.letter !== "." ? this.letters[at.letter][1] : "no receipt";
    find("#pointed").textContent = at && at.sample >= 0 ? `${at.task} · sample ${at.sample} · ${known}` : "";
  }

  open(event) {
    const at = this.under(event);
    if (!at?.letter || at.letter === ".") return;
    if (at.addresses) {
      if (at.addresses[at.sample]) location.href = at.addresses[at.sample];
      return;
    }
    location.href = `/sample?${new URLSearchParams({ run: this.box.dataset.run, task: at.task, sample: at.sample })}`;
  }
}

let matrix = null;

// ---- Live: a few bytes are asked for; the page only when they say that it changed ----

const LIVE_SECONDS = 1.5;

async function watch() {
  const version = document.body.dataset.version;
  if (!version || document.body.hasAttribute("data-static")) return;
  const page = new URL(location.href);
  const run = page.pathname === "/run" ? page.searchParams.get("run") : "";
  try {
    if (!document.hidden && (["/compare", "/watch"].includes(page.pathname) || (await newest(run)) !== version)) await refresh();
    find("main").classList.remove("lost");
  } catch {
    find("main").classList.add("lost");  // the server is gone; it is asked again, it may come back
  }
  setTimeout(watch, LIVE_SECONDS * 1000);
}

async function newest(run) {
  const answer = await fetch(`/version?${new URLSearchParams({ run })}`);
  return answer.ok ? (await answer.json()).version : "";
}

async function refresh() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const ticked = new Set(all("#runs input:checked").map((box) => box.value));
  const at = find("[data-nav].at")?.dataset.key;
  for (const part of all("[data-live]")) {
    const next = find(`[data-live="${part.dataset.live}"]`, fresh);
    if (next) part.replaceWith(next);
  }
  for (const row of all("#runs [data-nav]")) {
    if (row.dataset.key === at) row.classList.add("at");
    const box = find("input", row);
    if (box && ticked.has(box.value)) box.checked = true;
  }
  if (fresh.body.dataset.version) document.body.dataset.version = fresh.body.dataset.version;
  else delete document.body.dataset.version;
  if (find("#matrix")) { if (matrix) matrix.renew(); else matrix = new Matrix(find("#matrix")); }
  settle();
}

function settle() {
  if (order) sortRows(order.name, order.down);
  filterRows();
  chosen();
}

document.addEventListener("DOMContentLoaded", () => {
  const asked = new URL(location.href).searchParams;
  const input = find("#filter[data-rows]");
  if (input && asked.get("q")) input.value = asked.get("q");
  const sort = asked.get("sort");
  if (sort && find("table.sortable")) order = { name: sort.replace(/^-/, ""), down: sort.startsWith("-") };
  settle();
  if (find("#matrix")) matrix = new Matrix(find("#matrix"));
  setTimeout(watch, LIVE_SECONDS * 1000);
});
