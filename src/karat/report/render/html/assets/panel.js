// The panel: one question beside the list, or on a page of its own.

import { apiPath, ask, notice, persist, problem } from "./api.js";
import { asMarkdown, copyButton } from "./copy.js";
import { make } from "./dom.js";
import { labeller } from "./labels.js";
import { questionDetail } from "./question.js";
import { termsOf } from "./terms.js";

const MOST = 3; // systems side by side, unless chosen
const MEASURES = 10; // that are shown of a system

/** Where a question has a page of its own. */
export function questionAddress(run, id, systems = []) {
  const query = new URLSearchParams({ id });
  systems.forEach((one) => query.append("system", one));
  return `/run/${encodeURIComponent(run)}/question?${query}`;
}

const reasoned = ({ value, status, reason }) => (typeof value === "number" ? value : `${status}: ${reason ?? "no value"}`);
const scoresOf = (one, measures) => measures.filter((name) => one.scores[name]).map((name) => [name, reasoned(one.scores[name])]);

/** A hit in the form in which it is laid out, with where the other systems have it. */
function laidOut(hit, system, ranks) {
  const others = (ranks.get(hit.id) ?? []).filter(([name]) => name !== system).map(([name, rank]) => `${name} #${rank}`);
  const page = [hit.page, hit.printed && hit.printed !== hit.page ? `(printed ${hit.printed})` : ""].filter(Boolean).join(" ");
  return { ...hit, page, whole: hit.cut, elsewhere: ranks.size && others.length ? `also ${others.join(" · ")}` : "" };
}

function answerOf(answer, hits) {
  if (!answer) return null;
  const known = new Map((hits ?? []).map((hit) => [hit.id, hit]));
  return {
    ...answer,
    contexts: answer.contexts?.map((context, i) => context && { ...(known.get(context.id) ?? { holds: [] }), id: context.id, text: context.text ?? known.get(context.id)?.text, engines: {}, score: null, rank: `[${i + 1}]`, elsewhere: "" }),
    sentences: answer.sentences?.length ? answer.sentences.map((one) => [one.text, one.support, one.context, one.passage, one.supported]) : null,
    verdicts: answer.verdicts?.map((one) => [one.measure, one.value, one.by, one.reason, one.repeats, one.claims.map((claim) => [claim.claim, claim.verdict, claim.contexts, claim.reason])]),
    missing: answer.missing?.length ? answer.missing : null,
  };
}

/** The main measure, then one of each kind: that at the main measure's cut-off where there is one. */
function mainly(all, main) {
  const [, k] = (main ?? "").split("@");
  const by = new Map(all.includes(main) ? [[main.split("@")[0], main]] : []);
  for (const name of all) {
    const [kind, cutoff] = name.split("@");
    if (!by.has(kind) || (cutoff === k && by.get(kind) !== main)) by.set(kind, name);
  }
  return [...by.values()].slice(0, MEASURES);
}

/** A reply of the API as what `questionDetail` and Markdown take. */
export function viewOf(reply, systems, main) {
  const measures = mainly(reply.measures, main);
  const chosen = reply.systems.filter((one) => systems.includes(one.system));
  const kept = reply.systems.filter((one) => one.hits || one.answer);
  const beside = (chosen.length ? chosen : kept.length ? kept : reply.systems).slice(0, Math.max(MOST, systems.length));
  const ranks = new Map();
  for (const { system, hits } of beside) for (const hit of hits ?? []) ranks.set(hit.id, [...(ranks.get(hit.id) ?? []), [system, hit.rank]]);
  const gold = reply.gold?.map((one) => [one.quote && !one.chunk ? [one.url ?? one.doc ?? one.label, one.page && `page ${one.page}`].filter(Boolean).join(" ") : one.label, one.grade, one.quote]);
  const question = { ...reply, gold: gold?.length ? gold : null, answers: reply.answers?.length ? reply.answers : null, unanswerable: reply.answerable === false, history: turns(reply.history) };
  const found = beside.map((one) => ({
    system: one.system, scores: scoresOf(one, measures), steps: one.steps,
    unmarked: Boolean(one.hits?.length && gold?.length && !one.knows_gold),
    failure: one.failure && { ...one.failure, detail: one.failure.detail || one.failure.meaning || "" },
    answer: answerOf(one.answer, one.hits),
    hits: one.hits?.map((hit) => laidOut(hit, one.system, beside.length > 1 ? ranks : new Map())) ?? null,
  }));
  const standings = reply.systems.map((one) => ({ system: one.system, values: scoresOf(one, measures).map(([, value]) => value), failure: one.failure?.title ?? "" }));
  return { question, found, measures, standings, k: reply.k ?? Infinity, note: reply.note };
}

/** Earlier turns as what was asked and answered, one after the other. */
export function turns(history) {
  const said = ({ question, answer }) => [{ role: "asked", text: question }, answer ? { role: "answered", text: answer } : null];
  return (history ?? []).flatMap(said).filter(Boolean);
}

/** What is shown of a question, with what can be done with it; `labelled` gets its labels' number. */
export function questionBox(run, view, higher, labelled) {
  const { question, found, measures, standings, k } = view;
  const box = make("article", { class: "one" });
  const marks = labeller(run, question.id, labelled);
  if (view.note) box.append(make("p", { class: "lead", textContent: view.note }));
  box.append(questionDetail(question, found, { k, measures, higher, standings, terms: termsOf(question.text), opened: found.length === 1, marks }));
  marks.load();
  box.append(make("p", { class: "acts" },
    copyButton("Copy as Markdown", () => asMarkdown(question, found, k === Infinity ? 10 : k)),
    copyButton("Copy link", () => location.origin + questionAddress(run, question.id, found.map((one) => one.system)))));
  return box;
}

/** The panel beside the list. */
export function questionPanel({ run, close, step, shown, labelled }) {
  const title = make("h2", { tabIndex: -1 });
  const body = make("div", { class: "body" });
  const head = make("div", { class: "head" }, title,
    make("button", { type: "button", textContent: "↑", "aria-label": "Question above (k)", title: "Question above (k)", onclick: () => step(-1) }),
    make("button", { type: "button", textContent: "↓", "aria-label": "Question below (j)", title: "Question below (j)", onclick: () => step(1) }),
    make("a", { class: "button", textContent: "Page", title: "This question on a page of its own" }),
    make("button", { type: "button", textContent: "✕", "aria-label": "Close (Esc)", title: "Close (Esc)", onclick: close }));
  const box = make("aside", { class: "panel", "aria-label": "Question", hidden: true }, head, body);
  let stop = new AbortController();
  let now = "";

  async function show(id, systems, main, higher) {
    const key = JSON.stringify([id, systems, main]);
    if (key === now && !box.hidden) return;
    stop.abort();
    const mine = (stop = new AbortController());
    now = key;
    box.hidden = false;
    title.textContent = "";
    title.append(make("span", { dir: "auto", textContent: id }));
    head.querySelector("a").href = questionAddress(run, id, systems);
    body.setAttribute("aria-busy", "true");
    const late = setTimeout(() => body.replaceChildren(notice("Loading the question …")), 300);
    const away = (error) => (clearTimeout(late), body.replaceChildren(problem(error)));
    try {
      const reply = await persist(() => ask(apiPath(run, "question", new URLSearchParams({ id })), { signal: mine.signal }), away, mine.signal);
      clearTimeout(late);
      body.replaceChildren(questionBox(run, viewOf(reply, systems, main), higher, (labels) => labelled(id, labels)));
      body.scrollTop = 0;
      shown(id);
    } catch (error) {
      clearTimeout(late);
      if (mine.signal.aborted) return;
      now = "";
      body.replaceChildren(problem(error, () => show(id, systems, main, higher)));
    }
    body.removeAttribute("aria-busy");
  }

  function hide() {
    stop.abort();
    now = "";
    box.hidden = true;
    body.replaceChildren();
  }
  return { box, show, hide, focus: () => title.focus({ preventScroll: true }) };
}

/** The page of one question. */
export async function startQuestion(place, data, run) {
  const asked = new URLSearchParams(location.search).getAll("system");
  const facts = await ask(apiPath(run, ""));
  const higher = facts.measures.find(({ name }) => name === facts.main)?.direction !== "lower";
  place.replaceChildren(make("section", { id: "question" }, questionBox(run, viewOf(data.detail, asked, facts.main), higher)));
}
