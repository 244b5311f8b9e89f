// The entry of the pages of karat view: each page of the server is readable as it is, and becomes more here.

import { ask, apiPath, problem } from "./api.js";
import { startCharts } from "./charts.js";
import { startCompare } from "./compare.js";
import { brief, held, make } from "./dom.js";
import { facetBars } from "./facets.js";
import { watchRun } from "./live.js";
import { startQuestion } from "./panel.js";
import { startLabels } from "./queue.js";
import { startQuestions } from "./questions.js";
import { startRuns } from "./runs.js";
import { startTables } from "./tables.js";
import { restoreTheme, startTheme } from "./theme.js";
import { startTuning } from "./tuning.js";

const STARTS = { runs: startRuns, compare: startCompare, question: startQuestion, labels: startLabels, questions, run, tune: startTuning };
const main = document.getElementById("main");
const page = document.body.dataset.page;
const id = document.body.dataset.run;
const LATEST = 100; // rows of a running run that are shown
let known = null; // what the run has, once a chart asked

async function questions(place, data) {
  const facts = data.run ?? (await ask(apiPath(id, "")));
  place.replaceChildren();
  document.body.classList.add("listing");
  const list = startQuestions(place, facts);
  if (facts.state === "running") watch(place, list.refresh);
}

/** One run: its facets lead to its questions. */
async function run(place, data) {
  if (data.run?.state === "running") return begun(place);
  if (data.run?.state !== "done") return null;
  const facts = await ask(apiPath(id, ""));
  const system = facts.best ?? facts.systems[0];
  const query = new URLSearchParams([system, ...facts.systems.filter((one) => one !== system).slice(0, 5)].map((one) => ["system", one]));
  const reply = await ask(apiPath(id, "facets", query));
  const lead = (name, value) => location.assign(`/run/${encodeURIComponent(id)}/questions?${new URLSearchParams([["system", system], [name, value]])}`);
  const parts = facetBars(reply, facts, system, lead);
  const section = make("section", { id: "facets" }, make("h2", { textContent: "Questions" }), make("p", { class: "lead", textContent: "Press a bar to see its questions." }), make("div", { class: "facets" }, ...parts));
  section.append(make("a", { class: "button main", href: `/run/${encodeURIComponent(id)}/questions`, textContent: `All ${facts.questions.toLocaleString("en")} questions` }));
  return (place.querySelector("section")?.after(section), null);
}

/** Where a mark of a chart leads: the step of a failure to its questions, the point of a question to it. */
async function leadOn({ step, question }) {
  const facts = await (known ??= ask(apiPath(id, "")));
  const failure = facts.failures.find(({ title }) => title === step?.replaceAll("\n", " "))?.label;
  const system = facts.best ?? facts.systems[0];
  const query = failure ? { system, failure } : { id: question };
  if (failure || (question && !question.endsWith("…"))) location.assign(`/run/${encodeURIComponent(id)}/question${failure ? "s" : ""}?${new URLSearchParams(query)}`);
}

/** A running run: the rows that are there already, the latest first, which follow as its progress does. */
function begun(place) {
  place.querySelector(".headline")?.remove(); // the progress above says it, and goes on
  const rows = make("div", { class: "table" });
  const name = make("h3");
  const scroll = make("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Questions so far" });
  place.querySelector(".table")?.remove();
  place.querySelector("section")?.append(rows);
  const grown = async ({ rows: total }) => {
    const reply = await ask(apiPath(id, "rows", new URLSearchParams({ offset: Math.max(0, total - LATEST), limit: LATEST })));
    const title = `${reply.total.toLocaleString("en")} questions so far${reply.total > reply.rows.length ? `, the latest ${reply.rows.length}` : ""}`;
    const head = ["question", ...reply.systems].map((one) => make("th", { scope: "col", dir: "auto", textContent: one }));
    const lines = reply.rows.reverse().map((row) => make("tr", {}, make("th", { scope: "row", dir: "auto", textContent: brief(row.id) }), ...reply.systems.map((one) => make("td", { textContent: row.status[one] ?? "" }))));
    const table = make("table", { "aria-label": title }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...lines));
    name.textContent = title;
    scroll.replaceChildren(table);
    if (!scroll.isConnected) rows.append(name, scroll); // one that stays keeps its place
  };
  watch(place, grown);
}

function watch(place, grown) {
  const bar = make("div", { class: "live", role: "status" });
  place.prepend(bar);
  watchRun(id, bar, { grown, ended: () => page === "run" && location.reload() });
}

async function start() {
  restoreTheme();
  startTheme(startCharts(page === "run" ? leadOn : null), true);
  const begin = STARTS[page];
  if (!begin) return startTables();
  if (page === "run" || page === "compare") startTables();
  try {
    await begin(main, held("view-data") ?? {}, id);
  } catch (error) {
    main.prepend(problem(error, () => location.reload()));
    throw error;
  }
}

start();
