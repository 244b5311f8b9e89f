// Tables: a button in every column title sorts, a line above long tables filters.

import { choice, line, make } from "./dom.js";

export const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** What a cell sorts by: its own value, else the first number in it where its column holds numbers, else its text. */
function sortValue(cell, isNumber) {
  if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
  const text = cell.textContent.trim();
  if (!isNumber) return text;
  const found = text.replaceAll(",", "").match(/-?(\d+\.?\d*|\.\d+)/);
  return found ? Number(found[0]) : null;
}

function compare(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : order.compare(String(a), String(b));
}

/** Sorts by a column; cells without a value stay last, equals keep their order. */
function sortBy(table, column, descending) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", descending ? "descending" : "ascending");
  const isNumber = heads[column].classList.contains("n");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [sortValue(row.cells[column], isNumber), row]);
  rows.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return descending ? compare(b, a) : compare(a, b);
  });
  body.append(...rows.map(([, row]) => row));
}

/** Makes titles sort; a table that comes in the place of another has its order. */
export function addSorting(table, before = null) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const first = head.classList.contains("n"); // numbers: the highest first
    const press = () => {
      const now = head.getAttribute("aria-sort");
      sortBy(table, column, now === null ? first : now === "ascending");
    };
    const button = make("button", { type: "button", onclick: press, textContent: head.textContent, "data-key": `sort ${column}` });
    head.replaceChildren(button);
    const sorted = before?.tHead.rows[0].cells[column].getAttribute("aria-sort");
    if (sorted) sortBy(table, column, sorted === "descending");
  });
}

/** A line to search all cells by, and a choice for each column that offers its values. */
function addFilters(box, table) {
  const rows = [...table.tBodies[0].rows];
  const wanted = { text: "", picks: new Map() };
  const count = make("output", { "aria-live": "polite" });
  const apply = () => {
    let shown = 0;
    for (const row of rows) {
      const hit =
        (!wanted.text || row.textContent.toLowerCase().includes(wanted.text)) &&
        [...wanted.picks].every(([column, value]) => !value || row.cells[column].textContent === value);
      row.hidden = !hit;
      shown += hit;
    }
    count.textContent = shown === rows.length ? `${rows.length} rows` : `${shown} of ${rows.length} rows`;
  };
  const typed = line("Filter", (text) => {
    wanted.text = text.trim().toLowerCase();
    apply();
  });
  const tools = make("div", { class: "tools" }, typed.box);
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (!head.hasAttribute("data-pick")) return;
    const values = [...new Set(rows.map((row) => row.cells[column].textContent))].sort(order.compare);
    if (values.length < 2) return;
    const options = [["", "all"], ...values.map((value) => [value, value])];
    tools.append(
      choice(head.textContent, options, (value) => {
        wanted.picks.set(column, value);
        apply();
      }).box,
    );
  });
  tools.append(count);
  apply();
  return tools;
}

/** The button that shows the columns left out at first. */
function addColumns(box, table) {
  const extra = table.tHead.querySelectorAll(".x").length;
  const button = make("button", { type: "button", "aria-pressed": "false" });
  const name = () => {
    const all = box.classList.contains("all");
    button.setAttribute("aria-pressed", String(all));
    button.textContent = all ? "Main columns only" : `All columns (${extra} more)`;
  };
  button.addEventListener("click", () => {
    box.classList.toggle("all");
    name();
  });
  name();
  return button;
}

export function startTables() {
  for (const box of document.querySelectorAll(".table")) {
    const table = box.querySelector("table");
    const tools = box.hasAttribute("data-filter") ? addFilters(box, table) : make("div", { class: "tools" });
    if (table.tHead.querySelector(".x")) tools.append(addColumns(box, table));
    addSorting(table);
    if (tools.children.length) box.querySelector("h3").after(tools);
  }
}
