// The entry of the pages of karat view: each page of the server is readable as it is, and becomes more here.

import { ask, apiPath, problem } from "./api.js";
import { startCharts } from "./charts.js";
import { startCompare } from "./compare.js";
import { held, make } from "./dom.js";
import { watchRun } from "./live.js";
import { startQuestion } from "./panel.js";
import { startQuestions } from "./questions.js";
import { startRuns } from "./runs.js";
import { startTables } from "./tables.js";
import { restoreTheme, startTheme } from "./theme.js";

const STARTS = { runs: startRuns, compare: startCompare, question: startQuestion, questions, run };
const main = document.getElementById("main");
const page = document.body.dataset.page;
const id = document.body.dataset.run;

async function questions(place, data) {
  const facts = data.run ?? (await ask(apiPath(id, "")));
  place.replaceChildren();
  document.body.classList.add("listing");
  const list = startQuestions(place, facts);
  if (facts.state === "running") watch(place, list.refresh);
}

function run(place, data) {
  if (data.run?.state === "running") watch(place, () => {});
}

function watch(place, grown) {
  const bar = make("div", { class: "live", role: "status" });
  place.prepend(bar);
  watchRun(id, bar, { grown, ended: () => page === "run" && location.reload() });
}

async function start() {
  restoreTheme();
  startTheme(startCharts(), true);
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
