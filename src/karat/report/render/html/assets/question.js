// One question, opened: what was asked and expected, every system's scores, and what those looked at found.

import { answerDetail } from "./answers.js";
import { address, figure, make } from "./dom.js";
import { hitList, quotesOf, scoreLine } from "./hits.js";
import { addSorting } from "./tables.js";

/** The whole detail of a question: `found` by each system that is looked at, and how all systems stand. */
export function questionDetail(question, found, { k, measures, higher, standings, terms, opened = false, marks }) {
  const box = make("div", { class: "opened" }, make("p", { class: "asked", dir: "auto", textContent: question.text || question.id }));
  if (marks) box.append(marks.head());
  const beside = make("div", { class: "beside" });
  beside.append(...found.map((one) => foundBy(one, k, quotesOf(question), terms, opened, marks?.of(one.system))));
  beside.style.setProperty("--ranks", Math.max(1, ...[...beside.children].map((one) => one.lastChild.children.length)));
  box.append(...conversation(question.history), ...expected(question), beside, allScores({ measures, higher, standings }));
  return box;
}

/** What was said before the question. */
export function conversation(history) {
  if (!history?.length) return [];
  const turn = ({ role, text }) => make("li", { class: role === "asked" ? "turn user" : "turn" }, make("b", { textContent: role }), " ", make("span", { dir: "auto", textContent: text }));
  return [make("h4", { textContent: "Conversation before it" }), make("ol", { class: "turns" }, ...history.map(turn))];
}

/** Kind and tags, reference answers and gold. */
export function expected(question) {
  const parts = [];
  const facts = [question.kind && `kind: ${question.kind}`, ...Object.entries(question.tags ?? {}).map(([a, b]) => `${a}: ${b}`)];
  if (question.unanswerable) facts.push("has no answer in the documents");
  if (facts.some(Boolean)) parts.push(make("p", { class: "muted", textContent: facts.filter(Boolean).join(" · ") }));
  if (question.past) {
    parts.push(make("h4", { textContent: "Earlier turns" }));
    parts.push(...question.past.map(([role, text]) => make("p", { class: "words", dir: "auto", textContent: `${role}: ${text}` })));
  }
  if (question.answers) {
    parts.push(make("h4", { textContent: question.answers.length > 1 ? "Reference answers" : "Reference answer" }));
    parts.push(...question.answers.map((answer) => make("p", { class: "words", dir: "auto", textContent: answer })));
  }
  if (question.gold) {
    const item = ([name, grade, quote]) =>
      make("li", {}, /^https?:/i.test(name) ? address(name) : make("span", { textContent: name }), grade === 1 ? "" : ` (grade ${grade})`,
        quote ? make("blockquote", { dir: "auto", textContent: quote }) : null);
    parts.push(make("h4", { textContent: "Gold" }), make("ul", { class: "gold" }, ...question.gold.map(item)));
  }
  return parts;
}

/** What one system found: scores, failure, steps, answer, hits. */
function foundBy({ system, scores, failure, answer, hits, steps, unmarked }, k, quotes, terms, opened, marks) {
  const box = make("div", { class: "before" }, make("h4", { textContent: system }));
  box.append(make("p", { class: "muted", textContent: scoreLine(scores) }));
  if (failure) {
    const why = make("p", { class: "why" }, make("b", { textContent: `✗ ${failure.title}` }), ` ${failure.detail}`);
    if (failure.next) why.append(make("span", { class: "next", textContent: `→ ${failure.next}` }));
    box.append(why);
  }
  if (steps?.length) box.append(stepList(steps));
  if (answer) box.append(answerDetail(answer, quotes, opened, marks), make("h4", { textContent: "Hits" }));
  if (!hits) box.append(make("p", { class: "muted", textContent: "The hits of this system are not kept." }));
  else if (!hits.length) box.append(make("p", { class: "muted", textContent: "It found nothing." }));
  if (unmarked) box.append(make("p", { class: "muted", textContent: "No hit of this system is marked as gold: it found none, or which hold gold is not stored. The scores say what was found." }));
  return make("div", {}, box, hits?.length ? hitList(hits, k, quotes, terms, marks) : null);
}

/** What a system did before it answered, step by step. */
function stepList(steps) {
  const fold = make("details", { class: "quiet" }, make("summary", { textContent: steps.length === 1 ? "1 step" : `${steps.length} steps` }));
  const item = (step) => make("li", {}, make("b", { textContent: step.name }), step.about ? make("span", { class: "muted", textContent: ` ${step.about}` }) : null, ...(step.under || []).map((line) => make("div", { class: "small", dir: "auto", textContent: line })));
  fold.append(make("ol", { class: "steps" }, ...steps.map(item)));
  return fold;
}

/** Every system's scores for the question, the best first. */
function allScores({ measures, higher, standings }) {
  const sign = higher ? -1 : 1;
  const key = (values) => (typeof values[0] === "number" ? sign * values[0] : Infinity);
  const rows = [...standings].sort((a, b) => key(a.values) - key(b.values) || 0);
  const head = make("tr", {}, make("th", { scope: "col", textContent: "system" }));
  head.append(...measures.map((name) => make("th", { scope: "col", class: "n", textContent: name })));
  head.append(make("th", { scope: "col", textContent: "failure" }));
  const body = make("tbody");
  for (const { system, values, failure } of rows) {
    const row = make("tr", {}, make("th", { scope: "row", textContent: system }));
    for (const m of measures.keys()) {
      const value = values[m];
      row.append(make("td", { class: "n", title: typeof value === "string" ? value : "", textContent: figure(value) }));
    }
    row.append(make("td", { textContent: failure || "none" }));
    body.append(row);
  }
  const table = make("table", { "aria-label": "This question by system" }, make("thead", {}, head), body);
  addSorting(table);
  const fold = make("details", {}, make("summary", { textContent: `Scores of all ${standings.length} systems` }));
  fold.append(make("div", { class: "table" }, make("div", { class: "scroll", tabIndex: 0 }, table)));
  return fold;
}
