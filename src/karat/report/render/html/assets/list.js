// A list of any length: only rows in sight are in the page, and pages of rows are fetched as they come near.

import { make, refill } from "./dom.js";

export const ROW = 40; // pixels, as in view.css
const HEAD = 36;
const PAGE = 100; // rows that are fetched at once
const HELD = 60; // pages that are kept
const TALLEST = 12_000_000; // pixels: browsers draw nothing beyond some height
const SETTLE = 60; // milliseconds that a scroll must rest before rows are asked for

/**
 * The list. `fetchPage(offset, limit, signal)` gives {total, rows}; `fill(element, row)` writes a row, `header()` makes
 * the columns; `chosen(row, index)` is told which row is opened, `failed(error)` what went wrong, null when mended.
 */
export function virtualList({ label, fetchPage, fill, header, chosen, loaded, failed }) {
  const heads = make("div", { role: "row", "aria-rowindex": 1, class: "heads" });
  const lines = make("div", { role: "rowgroup", class: "lines" });
  const pane = make("div", { class: "pane" }, heads, lines);
  const track = make("div", { class: "track" }, pane);
  const grid = make("div", { class: "grid", role: "grid", "aria-label": label, tabIndex: 0 }, track);
  const pages = new Map(); // page -> rows, the longest unused first
  const under = new Map(); // page -> what stops its request
  const shown = new Map(); // index -> its element
  let total = 0;
  let active = -1;
  let timer = 0;
  let round = 0;
  let moved = 1;
  let before = 0;
  let waits = 0;
  let busy = false;

  const height = () => Math.max(grid.clientHeight - HEAD, ROW);
  const whole = () => total * ROW;
  const tall = () => Math.min(whole(), TALLEST);
  /** Pixels of the list above the window; beyond the tallest element, a pixel of the bar stands for several. */
  const above = () => {
    const most = tall() - height();
    return most > 0 ? (Math.min(grid.scrollTop, most) / most) * (whole() - height()) : 0;
  };
  const rowAt = (index) => pages.get(Math.floor(index / PAGE))?.[index % PAGE];

  function range() {
    const first = Math.floor(above() / ROW);
    return [first, Math.min(total, first + Math.ceil(height() / ROW) + 1)];
  }

  function draw() {
    const [first, last] = range();
    const offset = above() - first * ROW;
    for (const [index, line] of shown) if (index < first || index >= last) line.remove(), shown.delete(index);
    for (let index = first; index < last; index++) {
      const line = shown.get(index) ?? blank(index);
      line.style.transform = `translateY(${(index - first) * ROW - offset}px)`;
      const row = rowAt(index);
      if (row && line.row !== row) write(line, row, index);
    }
    lines.setAttribute("data-first", first);
  }

  function blank(index) {
    const line = make("div", { role: "row", class: "line waits", id: `row-${index}`, "aria-rowindex": index + 2 });
    line.append(make("span", { role: "gridcell", class: "n", textContent: (index + 1).toLocaleString("en") }), make("span", { role: "gridcell", class: "bar", "aria-label": "loading" }));
    line.addEventListener("click", () => choose(index));
    mark(line, index);
    shown.set(index, line);
    lines.append(line);
    return line;
  }

  function write(line, row, index) {
    line.row = row;
    line.classList.remove("waits");
    line.replaceChildren();
    fill(line, row, index);
  }

  function mark(line, index) {
    line.setAttribute("aria-selected", String(index === active));
  }

  /** The pages in sight, then the next ones in the direction of the scroll, then behind it. */
  function wanted() {
    const [first, last] = range();
    if (!total) return { near: [], all: [] };
    const from = Math.floor(first / PAGE);
    const to = Math.floor(Math.max(first, last - 1) / PAGE);
    const near = Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const ahead = moved > 0 ? [to + 1, from - 1] : [from - 1, to + 1];
    return { near, all: [...near, ...ahead.filter((page) => page >= 0 && page * PAGE < total)] };
  }

  function load() {
    if (busy) return; // what starts anew asks for its rows itself, and rows after a refusal would be of another list
    const { near, all } = wanted();
    for (const [page, stop] of under) if (!all.includes(page)) stop.abort(), under.delete(page);
    const missing = near.filter((page) => !pages.has(page) && !under.has(page));
    for (const page of missing) bring(page);
    if (near.every((page) => pages.has(page))) for (const page of all) if (!pages.has(page) && !under.has(page)) bring(page);
  }

  async function bring(page) {
    const stop = new AbortController();
    const mine = round;
    under.set(page, stop);
    try {
      const reply = await fetchPage(page * PAGE, PAGE, stop.signal);
      if (mine !== round) return;
      waits = 0;
      failed(null);
      keep(page, reply);
    } catch (error) {
      if (mine !== round || error.name === "AbortError") return;
      failed(error);
      if (error.isAway) setTimeout(() => mine === round && load(), Math.min(1000 * 2 ** waits++, 15_000));
    } finally {
      if (under.get(page) === stop) under.delete(page);
    }
    load();
  }

  function keep(page, reply) {
    pages.delete(page);
    pages.set(page, reply.rows);
    while (pages.size > HELD) pages.delete(pages.keys().next().value);
    if (reply.total !== total) measure(reply.total);
    loaded(reply);
    draw();
  }

  function measure(count) {
    total = count;
    grid.setAttribute("aria-rowcount", total + 1);
    track.style.height = `${HEAD + tall()}px`;
    if (active >= total) active = total - 1;
  }

  /** Starts anew: other filters, another order. Old rows stay, dimmed, until the first new ones are there. */
  async function reload({ keepPlace = false } = {}) {
    const mine = ++round;
    under.forEach((stop) => stop.abort());
    under.clear();
    grid.setAttribute("aria-busy", "true");
    busy = true;
    refill(heads, ...header());
    const stop = new AbortController();
    const page = keepPlace ? Math.floor(range()[0] / PAGE) : 0;
    under.set(page, stop);
    try {
      const reply = await fetchPage(page * PAGE, PAGE, stop.signal);
      if (mine !== round) return;
      pages.clear();
      shown.forEach((line) => line.remove());
      shown.clear();
      if (!keepPlace) grid.scrollTop = 0;
      if (!keepPlace) active = -1;
      waits = 0;
      busy = false;
      failed(null);
      measure(reply.total);
      keep(page, reply);
    } catch (error) {
      if (mine !== round || error.name === "AbortError") return;
      failed(error);
      if (error.isAway) setTimeout(() => mine === round && reload({ keepPlace }), Math.min(1000 * 2 ** waits++, 15_000));
    } finally {
      if (under.get(page) === stop) under.delete(page);
      if (mine === round) grid.removeAttribute("aria-busy");
    }
    load();
  }

  function scrolled() {
    moved = grid.scrollTop - before || moved;
    const far = Math.abs(grid.scrollTop - before) > 20 * ROW;
    before = grid.scrollTop;
    draw();
    clearTimeout(timer);
    timer = setTimeout(load, far ? SETTLE : 0);
  }

  /** Makes a row the current one and brings it into sight. */
  function go(index) {
    if (!total) return;
    active = Math.max(0, Math.min(total - 1, index));
    const top = active * ROW;
    const most = tall() - height();
    const scale = most > 0 ? (whole() - height()) / most : 1;
    if (top < above()) grid.scrollTop = top / scale;
    else if (top + ROW > above() + height()) grid.scrollTop = Math.ceil((top + ROW - height()) / scale);
    draw();
    shown.forEach(mark);
    grid.setAttribute("aria-activedescendant", `row-${active}`);
    load();
  }

  /** Opens a row; one that is still on its way, when it is there. */
  function choose(index) {
    go(index);
    const row = rowAt(active);
    if (row) chosen(row, active);
    else setTimeout(() => active === index && total && choose(index), 120);
  }

  /** Makes the row of an id current where it is at hand. */
  function find(id) {
    for (const [page, rows] of pages) {
      const place = rows.findIndex((row) => row.id === id);
      if (place >= 0) return go(page * PAGE + place);
    }
  }

  /** Changes what a row says, where it is at hand. */
  function amend(id, values) {
    for (const rows of pages.values()) {
      const place = rows.findIndex((row) => row.id === id);
      if (place >= 0) rows[place] = { ...rows[place], ...values };
    }
    draw();
  }

  grid.addEventListener("scroll", scrolled, { passive: true });
  new ResizeObserver(() => (draw(), load())).observe(grid);
  return {
    grid, reload, go, choose, find, amend,
    step: (by, opens) => (opens ? choose(active + by) : go(active + by)),
    page: () => Math.max(1, Math.floor(height() / ROW) - 1),
    get active() { return active; },
    get total() { return total; },
    current: () => rowAt(active),
  };
}
