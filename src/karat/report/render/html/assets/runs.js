// The runs: search, choose some to compare, how the main measure went, and how far running ones are.

import { ask } from "./api.js";
import { draw, figure, line, make, refill } from "./dom.js";
import { poll, progressBar } from "./live.js";
import { addSorting } from "./tables.js";

const MOST = 6; // runs that are compared at once
const address = (id) => `/run/${encodeURIComponent(id)}`;
/** USD to the cent, or to two digits where it is less. */
const dollars = (usd) => `$${usd && usd < 0.1 ? Number(usd.toPrecision(2)) : usd.toFixed(2)}`;
const when = (text) => (text ?? "").replace("T", " ").slice(0, 16);

/** The page of runs. */
export function startRuns(place, data) {
  const chosen = new Set();
  let runs = data.runs;
  let text = data.text ?? "";
  const count = make("output", { "aria-live": "polite" });
  const compare = make("a", { class: "button main", textContent: "Compare" });
  const table = make("div", { class: "table" });
  const scroll = make("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Runs" });
  const over = make("div", { class: "trends" });
  const search = line("Search", (value) => {
    text = value;
    history.replaceState(null, "", value.trim() ? `?${new URLSearchParams({ text: value.trim() })}` : location.pathname);
    fill();
  }, { value: text, placeholder: "name, system, measure, date" });

  function offer() {
    const ids = runs.filter(({ id }) => chosen.has(id)).map(({ id }) => id).reverse();
    compare.textContent = ids.length > 1 ? `Compare ${ids.length} runs` : "Compare: choose two or more";
    if (ids.length > 1) compare.href = `/compare?${new URLSearchParams(ids.map((id) => ["run", id]))}`;
    else compare.removeAttribute("href");
  }

  function row(run) {
    const tick = make("input", { type: "checkbox", checked: chosen.has(run.id), disabled: run.state !== "done", "aria-label": `Compare ${run.name} ${run.id}`, "data-key": `choose ${run.id}` });
    tick.addEventListener("change", () => {
      if (tick.checked && chosen.size >= MOST) tick.checked = false;
      chosen[tick.checked ? "add" : "delete"](run.id);
      offer();
    });
    const name = run.state === "damaged" ? make("span", { textContent: run.name }) : make("a", { href: address(run.id), dir: "auto", textContent: run.name, "data-key": `open ${run.id}` });
    const mean = typeof run.mean === "number" ? [figure(run.mean, 3), " ", make("small", { textContent: typeof run.low === "number" ? `[${figure(run.low, 3)}, ${figure(run.high, 3)}]` : "" })] : undefined;
    const cell = (...children) => make("td", {}, ...children);
    const number = (value, shown = value?.toLocaleString("en")) => make("td", { class: "n", ...(typeof value === "number" ? { "data-v": value } : {}) }, ...[shown ?? "–"].flat());
    const state = run.state === "running" ? progressBar(run.progress) : make("span", { class: run.state === "done" ? "chip passes" : "chip fails", textContent: run.state });
    return make("tr", { "data-run": run.id }, cell(tick), make("th", { scope: "row" }, name, run.name === run.id ? null : make("small", { textContent: run.id })), cell(state), cell(...when(run.started).split(" ").flatMap((part) => [make("span", { class: "whole", textContent: part }), " "])),
      number(run.systems), number(run.questions), make("td", { dir: "auto" }, run.best ?? ""), cell(run.main ?? ""),
      number(run.mean, mean), number(run.cost_usd, typeof run.cost_usd === "number" ? dollars(run.cost_usd) : undefined));
  }

  function fill() {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const listed = runs.filter((run) => words.every((word) => [run.id, run.name, run.best, run.main, run.state, run.started].join(" ").toLowerCase().includes(word)));
    const number = listed.length === runs.length ? `${runs.length} run${runs.length === 1 ? "" : "s"}` : `${listed.length} of ${runs.length} runs`;
    count.textContent = listed.length > data.most ? `${number}, the latest ${data.most} listed` : number;
    const titles = [["", ""], ["run", ""], ["state", ""], ["started", ""], ["systems", "n"], ["questions", "n"], ["best", ""], ["measure", ""], ["mean", "n"], ["cost", "n", "What is known of the cost of its answers, in USD"]];
    const head = make("tr", {}, ...titles.map(([title, kind, hint = ""]) => make("th", { scope: "col", class: kind, textContent: title, title: hint })));
    const made = make("table", { "aria-label": "Runs" }, make("thead", {}, head), make("tbody", {}, ...listed.slice(0, data.most).map(row)));
    addSorting(made, scroll.querySelector("table"));
    head.cells[0].replaceChildren(make("span", { class: "away", textContent: "compare" }));
    const empty = runs.length ? "No run has all these words." : "There are no runs yet. Make one with karat run or karat demo.";
    refill(scroll, made);
    if (!listed.length) table.replaceChildren(make("div", { class: "state" }, make("p", { textContent: empty })));
    else if (!table.contains(scroll)) table.replaceChildren(scroll); // one that stays keeps its place
    offer();
  }

  place.replaceChildren(make("section", { id: "runs" }, make("h2", { textContent: "Runs" }), make("div", { class: "tools" }, search.box, compare, count), ...(data.note ? [make("p", { class: "lead", textContent: data.note })] : []), table), over);
  over.replaceChildren(...trendParts(data.trends ?? []));
  fill();
  const again = async () => {
    const found = await ask("/api/runs");
    runs = [...found.runs].sort((a, b) => (b.started ?? "").localeCompare(a.started ?? ""));
    fill();
    return runs.some(({ state }) => state === "running");
  };
  if (data.total > runs.length) again(); // the page holds the latest alone
  poll(async () => runs.some(({ state }) => state === "running") && again());
}

const WIDE = 560;
const HIGH = 110;
const EDGE = 10;

/** How the main measure went on each test set, as a line with its intervals; every point leads to its run. */
function trendParts(trends) {
  if (!trends.length) return [];
  return [make("section", { id: "trends" }, make("h2", { textContent: "Over time" }), make("div", { class: "figures" }, ...trends.map(trendOf)))];
}

function trendOf({ testset, main, runs }) {
  const ends = runs.flatMap(({ mean, low, high }) => [low ?? mean, high ?? mean]);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const x = (i) => EDGE + (i * (WIDE - 2 * EDGE)) / Math.max(1, runs.length - 1);
  const y = (value) => HIGH - EDGE - ((value - least) / (most - least || 1)) * (HIGH - 2 * EDGE);
  const svg = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "trend", role: "img", "aria-label": `${main} of ${runs.length} runs, from ${figure(runs[0].mean, 3)} to ${figure(runs.at(-1).mean, 3)}` });
  runs.forEach(({ low, high }, i) => typeof low === "number" && typeof high === "number" && svg.append(draw("line", { x1: x(i), x2: x(i), y1: y(low), y2: y(high), class: "range" })));
  svg.append(draw("polyline", { points: runs.map(({ mean }, i) => `${x(i)},${y(mean)}`).join(" "), class: "way" }));
  runs.forEach((run, i) => {
    const link = draw("a", { href: address(run.id) }, draw("circle", { cx: x(i), cy: y(run.mean), r: 5 }));
    link.append(draw("title", {}, `${run.name}, ${when(run.started)}: ${run.best} ${figure(run.mean, 3)}`));
    svg.append(link);
  });
  const last = runs.at(-1);
  const caption = make("figcaption", {}, `${main} `, make("small", { textContent: `test set ${testset.slice(0, 12)}` }));
  const span = make("p", { class: "muted small", textContent: `${when(runs[0].started)}: ${figure(runs[0].mean, 3)} → ${when(last.started)}: ${figure(last.mean, 3)} (${last.best})` });
  return make("figure", { "aria-label": `${main} over time` }, caption, svg, span);
}
