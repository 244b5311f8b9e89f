// Filters: the controls above the list. They write the address, and follow it.

import { choice, line, make } from "./dom.js";
import { change, filters, narrowing, params, toggle } from "./state.js";

const REST = 250; // milliseconds of rest after which what is typed counts
const MOST_COLUMNS = 12;

/** The systems and measures whose columns are shown; `most` systems where none is chosen. */
export function columnsOf(facts, most = 4) {
  const asked = params();
  const pair = [asked.get("a"), asked.get("b")].filter(Boolean);
  const chosen = asked.getAll("system").filter((one) => facts.systems.includes(one));
  const measures = asked.getAll("measure").filter((one) => facts.measures.some(({ name }) => name === one));
  return {
    systems: chosen.length ? chosen : pair.length === 2 ? pair : facts.systems.slice(0, most),
    measures: measures.length ? measures : [facts.main].filter(Boolean),
  };
}

/** The parameters of an API call, with the columns that are shown named in it. */
export function queryOf(facts, most) {
  const query = filters();
  const { systems, measures } = columnsOf(facts, most);
  query.delete("system");
  query.delete("measure");
  systems.forEach((one) => query.append("system", one));
  measures.forEach((one) => query.append("measure", one));
  if (!query.get("a") || !query.get("b")) {
    ["differ", "side", "a", "b"].forEach((name) => query.delete(name));
    if (query.get("sort") === "difference") ["sort", "order"].forEach((name) => query.delete(name));
  }
  return query;
}

function rested(act) {
  let timer = 0;
  return (value) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(value), REST);
  };
}

/** A line whose value is a parameter; what is typed in one go is one step back. */
function typed(title, name, properties = {}) {
  let begun = false;
  const made = line(title, rested((value) => {
    change({ [name]: value.trim() }, { replace: begun });
    begun = true;
  }), properties);
  made.input.addEventListener("blur", () => (begun = false));
  return { box: made.box, sync: (now) => document.activeElement !== made.input && (made.input.value = now.get(name) ?? ""), input: made.input };
}

function chosen(title, name, options, given = (value) => ({ [name]: value }), label = title) {
  const made = choice(title, options, (value) => change(given(value)));
  made.select.setAttribute("aria-label", label);
  return { box: made.box, sync: (now) => (made.select.value = now.get(name) ?? "") };
}

const names = (all) => all.map((one) => [one, one]);
const YES_NO = [["", "any"], ["yes", "yes"], ["no", "no"]];

/** The bar of filters over the list; `sync` makes it follow the address. */
export function filterBar(facts) {
  const text = typed("Search", "text", { placeholder: "words in question, id or answer", class: "wide" });
  const number = { type: "number", step: "any", class: "short" };
  const rest = [
    chosen("System", "system", names(facts.systems), (value) => ({ system: [value, ...columnsOf(facts).systems.filter((one) => one !== value)] })),
    chosen("Measure", "measure", names(facts.measures.map(({ name }) => name)), (value) => ({ measure: value, min: null, max: null })),
    group("Score", typed("from", "min", { ...number, "aria-label": "Score from" }), typed("to", "max", { ...number, "aria-label": "Score to" })),
    group("Differ",
      chosen("A", "a", [["", "–"], ...names(facts.systems)], (value) => differing(value, params().get("b")), "System A"),
      chosen("B", "b", [["", "–"], ...names(facts.systems)], (value) => differing(params().get("a"), value), "System B"),
      typed("by at least", "differ", { ...number, min: 0, "aria-label": "Differ by at least" }),
      chosen("better", "side", [["", "either"], ["a", "A"], ["b", "B"]], undefined, "Which is better")),
    chosen("Status", "status", [["", "any"], ["ok", "scored"], ["undefined", "undefined"], ["failed", "failed"]]),
    chosen("Labelled", "labelled", YES_NO),
    chosen("Judges disagree", "disagree", YES_NO),
    columns(facts),
  ];
  const more = make("div", { class: "rest", id: "rest" }, ...rest.map(({ box }) => box));
  const fold = make("button", { type: "button", class: "fold", "aria-expanded": "false", "aria-controls": "rest", textContent: "Filters" });
  const box = make("div", { class: "filters tools", role: "search" }, text.box, fold, more);
  fold.addEventListener("click", () => fold.setAttribute("aria-expanded", String(box.classList.toggle("unfolded"))));
  const sync = () => {
    const now = params();
    const { systems, measures } = columnsOf(facts);
    if (systems.length) now.set("system", systems[0]);
    if (measures.length) now.set("measure", measures[0]);
    [text, ...rest].forEach((one) => one.sync(now));
  };
  return { box, sync, search: text.input };
}

/** Two systems to compare: how far apart is asked as soon as both are there. */
function differing(a, b) {
  const asked = params();
  return { a, b, differ: a && b ? (asked.get("differ") ?? "0.2") : asked.get("differ") };
}

function group(title, ...parts) {
  const box = make("fieldset", { class: "group" }, make("legend", { textContent: title }), ...parts.map((one) => one.box));
  return { box, sync: (now) => parts.forEach((one) => one.sync(now)) };
}

/** Which systems and measures have a column. */
function columns(facts) {
  const list = (name, all, shown) => {
    const tick = (one) => {
      const now = shown();
      const next = now.includes(one) ? now.filter((other) => other !== one) : [...now, one];
      if (next.length) change({ [name]: next.slice(0, MOST_COLUMNS) });
    };
    const box = make("fieldset", {}, make("legend", { textContent: name === "system" ? "Systems" : "Measures" }));
    const boxes = all.map((one) => [one, make("input", { type: "checkbox", onchange: () => tick(one) })]);
    box.append(...boxes.map(([one, input]) => make("label", { class: "tick" }, input, one)));
    return { box, sync: () => boxes.forEach(([one, input]) => (input.checked = shown().includes(one))) };
  };
  const lists = [list("system", facts.systems, () => columnsOf(facts).systems), list("measure", facts.measures.map(({ name }) => name), () => columnsOf(facts).measures)];
  const fold = make("details", { class: "pop" }, make("summary", { textContent: "Columns" }), make("div", { class: "sheet" }, ...lists.map(({ box }) => box)));
  addEventListener("pointerdown", (event) => fold.open && !fold.contains(event.target) && (fold.open = false));
  fold.addEventListener("keydown", (event) => event.key === "Escape" && ((fold.open = false), fold.querySelector("summary").focus(), event.stopPropagation()));
  return { box: fold, sync: () => lists.forEach((one) => one.sync()) };
}

const TITLES = { text: "text", kind: "kind", failure: "failure", min: "score from", max: "score to", status: "status", labelled: "labelled", disagree: "judges disagree" };

/** Each filter that narrows the list, to be taken out again. */
export function chips(facts) {
  const titles = new Map(facts.failures.map(({ label, title }) => [label, title]));
  const chip = (words, remove) => make("button", { type: "button", class: "chip filter", "aria-label": `Remove the filter ${words}`, onclick: remove }, make("span", { dir: "auto", textContent: words }), " ×");
  const made = [];
  const now = narrowing();
  for (const [name, value] of now) {
    if (["a", "b", "side", "differ"].includes(name)) continue;
    const title = name.startsWith("tag.") ? name.slice(4) : TITLES[name];
    made.push(chip(`${title}: ${name === "failure" ? (titles.get(value) ?? value) : value}`, () => toggle(name, value)));
  }
  const { a, b, differ, side } = Object.fromEntries(now);
  if (a && b && differ) made.push(chip(`${a} and ${b} differ by ${differ}${side && side !== "any" ? `, ${side === "a" ? a : b} better` : ""}`, () => change({ a: null, b: null, differ: null, side: null })));
  if (made.length > 1) made.push(make("button", { type: "button", class: "quietly", textContent: "Clear all", onclick: () => change(Object.fromEntries(now.map(([name]) => [name, null]))) }));
  return made;
}
