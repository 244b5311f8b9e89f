// The questions of a run: filters, facets, the list, and the panel beside it.

import { apiPath, ask, notice, persist, problem } from "./api.js";
import { copyButton } from "./copy.js";
import { breakable, brief, figure, make, refill, signed } from "./dom.js";
import { facetBars } from "./facets.js";
import { chips, columnsOf, filterBar, queryOf } from "./filters.js";
import { bindKeys } from "./keys.js";
import { virtualList } from "./list.js";
import { questionPanel } from "./panel.js";
import { change, filters, listen, params, unknownParams } from "./state.js";

const LONGEST = 400; // characters of a question in a row
const MOST = matchMedia("(max-width: 40rem)").matches ? 1 : 4; // systems with a column, unless chosen

/** The list of a run in `place`; `facts` is what the run has. */
export function startQuestions(place, facts) {
  const run = facts.id;
  const titles = new Map(facts.failures.map(({ label, title }) => [label, title]));
  const measureOf = new Map(facts.measures.map((one) => [one.name, one]));
  const bar = filterBar(facts);
  const count = make("output", { "aria-live": "polite" });
  const kept = make("span", { class: "kept" });
  const exports = make("span", { class: "acts" });
  const state = make("div", { class: "over" });
  const facets = make("aside", { class: "facets", "aria-label": "Facets" });
  const list = virtualList({ label: "Questions", fetchPage, fill, header, chosen, loaded, failed });
  const panel = questionPanel({ run, close, step: (by) => list.step(by, true), shown: (id) => list.find(id), labelled: (id, labels) => list.amend(id, { labels }) });
  const middle = make("div", { class: "middle" }, list.grid, state);
  const split = make("div", { class: "split" }, facets, middle, panel.box);
  let round = 0;
  let before = null;

  const columns = () => columnsOf(facts, MOST);
  const higher = () => measureOf.get(columns().measures[0])?.direction !== "lower";

  function fetchPage(offset, limit, signal) {
    const query = queryOf(facts, MOST);
    for (const name of ["a", "b"]) if (query.get(name) && !query.has("system", query.get(name))) query.append("system", query.get(name)); // of which the difference is
    query.set("offset", offset);
    query.set("limit", limit);
    return ask(apiPath(run, "rows", query), { signal });
  }

  /** Titles of the columns; those that sort are buttons. */
  function header() {
    const { systems, measures } = columns();
    const now = params();
    const several = measures.length > 1;
    const cells = [head("number", "#", "n"), head("text", "Question"), head("kind", "Kind", "kind")];
    for (const system of systems) for (const measure of measures) cells.push(head(`${system}:${measure}`, several ? `${system} ${measure}` : system, "score", true));
    if (now.get("a") && now.get("b")) cells.push(head("difference", "B − A", "score gap", true));
    list?.grid.style.setProperty("--scores", cells.length - 3);
    list?.grid.setAttribute("aria-colcount", cells.length);
    list?.grid.toggleAttribute("data-few", cells.length < 7);
    return cells;
  }

  function head(key, title, kind = "", highFirst = false) {
    const now = params();
    const sorted = (now.get("sort") ?? "number") === key;
    const down = now.get("order") === "down";
    const press = () => {
      const next = sorted ? !down : highFirst;
      change({ sort: key === "number" ? null : key, order: next ? "down" : null });
    };
    const button = make("button", { type: "button", title: highFirst ? `Sort by ${title}` : "", onclick: press, "data-key": key }, make("span", {}, ...breakable(title)));
    const cell = make("span", { role: "columnheader", class: kind }, button);
    if (sorted) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    return cell;
  }

  /** One row: number, question, kind, scores. */
  function fill(element, row) {
    const { systems, measures } = columns();
    const words = (row.text ?? "").slice(0, LONGEST);
    element.append(
      make("span", { role: "gridcell", class: "n", textContent: (row.n + 1).toLocaleString("en") }),
      make("span", { role: "gridcell", class: "asked", dir: "auto" }, make("b", { textContent: brief(row.id) }), " ", words, row.labels ? make("span", { class: "labels", title: `${row.labels} labels`, textContent: ` ⚑${row.labels}` }) : null),
      make("span", { role: "gridcell", class: "kind", dir: "auto", textContent: row.kind ?? "" }),
    );
    for (const system of systems) measures.forEach((name, m) => element.append(scoreCell(row, system, name, m)));
    const { a, b } = Object.fromEntries(params());
    if (a && b) element.append(gapCell(row.scores[a]?.[0], row.scores[b]?.[0]));
  }

  function scoreCell(row, system, name, m) {
    const value = row.scores[system]?.[m];
    const label = m === 0 ? row.failure[system] : null;
    const status = row.status[system];
    const cell = make("span", { role: "gridcell", class: "score" });
    if (label) cell.append(make("span", { class: "fails", title: `${system}: ${titles.get(label) ?? label}`, textContent: "✗" }), " ");
    cell.append(typeof value === "number" ? figure(value, 3) : make("span", { class: "muted", textContent: status === "ok" ? "–" : (status ?? "–") }));
    const [low, high] = measureOf.get(name)?.range ?? [];
    if (typeof value === "number" && typeof low === "number" && typeof high === "number" && high > low) {
      const share = Math.max(0, Math.min(1, (value - low) / (high - low)));
      cell.classList.add("shaded");
      cell.style.setProperty("--v", measureOf.get(name).direction === "lower" ? 1 - share : share);
    }
    return cell;
  }

  function gapCell(a, b) {
    const known = typeof a === "number" && typeof b === "number";
    return make("span", { role: "gridcell", class: "score gap", textContent: known ? signed(b - a) : "–" });
  }

  function loaded(reply) {
    count.textContent = reply.total === reply.of ? `${reply.of.toLocaleString("en")} questions` : `${reply.total.toLocaleString("en")} of ${reply.of.toLocaleString("en")} questions`;
    const open = params().get("open");
    if (open && list.active < 0) list.find(open);
    if (reply.total) return void state.replaceChildren();
    const clear = make("button", { type: "button", textContent: "Show all questions", onclick: () => history.pushState(null, "", location.pathname) ?? follow() });
    state.replaceChildren(notice(reply.of ? "No question passes these filters." : "There are no questions yet.", reply.of ? clear : null));
  }

  function failed(error) {
    if (error) state.replaceChildren(problem(error, () => list.reload()));
    else if (state.querySelector(".problem")) state.replaceChildren();
  }

  async function countAgain() {
    const mine = ++round;
    facets.setAttribute("aria-busy", "true");
    try {
      const reply = await persist(() => ask(apiPath(run, "facets", queryOf(facts, MOST))), () => {});
      if (mine === round) refill(facets, ...facetBars(reply, facts, columns().systems[0]));
    } catch {
      if (mine === round) facets.replaceChildren(); // the list says what is wrong
    }
    if (mine === round) facets.removeAttribute("aria-busy");
  }

  function chosen(row) {
    change({ open: row.id }, { replace: !panel.box.hidden });
  }

  function close() {
    change({ open: null });
    list.grid.focus({ preventScroll: true });
  }

  /** Makes all that is shown follow the address. */
  function follow() {
    const now = filters().toString();
    bar.sync();
    kept.replaceChildren(...chips(facts));
    if (now !== before) {
      before = now;
      list.reload();
      countAgain();
      exports.replaceChildren(...["csv", "jsonl"].map(exportLink));
    }
    const open = params().get("open");
    split.classList.toggle("paired", Boolean(open));
    if (open) panel.show(open, columns().systems, columns().measures[0], higher());
    else panel.hide();
    if (open) list.find(open);
  }

  function exportLink(format) {
    const query = queryOf(facts, MOST);
    query.set("format", format);
    return make("a", { class: "button", href: apiPath(run, "export", query), download: "", textContent: format === "csv" ? "CSV" : "JSONL", title: "Download the questions that are listed" });
  }

  const open = () => !panel.box.hidden;
  const onGrid = (event) => event.target === list.grid || event.target === document.body;
  const help = bindKeys([
    [["j"], "Next question", () => list.step(1, open())],
    [["k"], "Question before", () => list.step(-1, open())],
    [["ArrowDown", "ArrowUp"], "Next or previous row", (event) => onGrid(event) && list.step(event.key === "ArrowDown" ? 1 : -1, open())],
    [["PageDown", "PageUp"], "A screen down or up", (event) => onGrid(event) && list.go(list.active + (event.key === "PageDown" ? 1 : -1) * list.page())],
    [["Home", "End"], "First or last row", (event) => onGrid(event) && list.go(event.key === "Home" ? 0 : list.total - 1)],
    [["Enter", "o"], "Open the question", () => (list.choose(Math.max(0, list.active)), panel.focus())],
    [["Escape"], "Close the question", () => open() && close()],
    [["/"], "Search", () => (bar.search.focus(), bar.search.select())],
  ]);
  const tools = make("div", { class: "status" }, count, kept, make("span", { class: "acts" }, exports, copyButton("Copy link", () => location.href), make("button", { type: "button", class: "quietly", textContent: "Keys", onclick: help })));
  const unknown = unknownParams();
  if (unknown.length) place.append(make("p", { class: "lead", role: "status", textContent: `Not known here, and ignored: ${unknown.join(", ")}.` }));
  place.append(bar.box, tools, split);
  listen(follow);
  follow();
  return { refresh: () => (list.reload({ keepPlace: true }), countAgain()) };
}
