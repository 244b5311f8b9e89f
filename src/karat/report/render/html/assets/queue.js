// The page of labels: what is worth labelling first, one thing after the other by keys, and the labels there are.

import { apiPath, ask, notice, problem } from "./api.js";
import { brief, make } from "./dom.js";
import { bindKeys } from "./keys.js";
import { CHOICES, labeller, nameLine } from "./labels.js";
import { turns } from "./panel.js";
import { conversation } from "./question.js";

const KIND = { hit: "Does this passage answer the question?", answer: "Is this answer right?", question: "Is this a good question?", claim: "Is this claim supported?" };

/** The queue and the list of labels of a run. */
export async function startLabels(place, data, run) {
  const id = run;
  const stage = make("div", { class: "stage" });
  const list = make("div", { class: "table" });
  const count = make("output", { "aria-live": "polite" });
  const about = make("div", {});
  const who = nameLine(() => restart());
  let items = [];
  let at = 0;
  let total = 0;
  let now = null;

  async function restart() {
    stage.replaceChildren(notice("Looking for what is worth labelling …"));
    try {
      const reply = await ask(apiPath(id, "queue", new URLSearchParams(who.name() ? { by: who.name() } : {})));
      if (reply.waiting) return void setTimeout(restart, 1000);
      [items, total, at] = [reply.items, reply.total, 0];
      show(reply.note);
    } catch (error) {
      stage.replaceChildren(problem(error, restart));
    }
  }

  function show(note = "") {
    const item = items[at];
    count.textContent = total ? `${(total - at).toLocaleString("en")} left` : "";
    if (!item && total > items.length) return void restart();
    now = null;
    if (!item) return void stage.replaceChildren(notice(note || "Nothing is left in the queue.", make("a", { class: "button", href: `/run/${encodeURIComponent(id)}/questions`, textContent: "All questions" })));
    const own = labeller(id, item.question);
    own.who.input.value = who.name();
    const thing = { kind: item.kind, question: item.question, ...(item.system ? { system: item.system } : {}), ...(item.hit ? { hit: { id: item.hit.id, ...(item.hit.doc ? { doc: item.hit.doc } : {}) } } : {}) };
    now = { item, own, thing };
    const box = make("article", { class: "one queued" },
      make("p", { class: "lead", dir: "auto", textContent: `${item.why}.` }),
      make("h3", { textContent: KIND[item.kind] }),
      ...conversation(turns(item.history)),
      item.earlier ? make("p", { class: "muted small", textContent: `Turns before these: ${item.earlier}.` }) : null,
      make("p", { class: "asked", dir: "auto" }, make("a", { href: `/run/${encodeURIComponent(id)}/question?${new URLSearchParams({ id: item.question })}`, textContent: brief(item.question) }), `: ${item.text}`));
    if (item.answers.length) box.append(make("h4", { textContent: item.answers.length > 1 ? "Reference answers" : "Reference answer" }), ...item.answers.map((text) => make("p", { class: "words", dir: "auto", textContent: text })));
    if (item.answer) box.append(make("h4", { textContent: `Answer of ${item.system}` }), make("p", { class: "words", dir: "auto", textContent: item.answer }));
    if (item.hit) box.append(make("h4", { textContent: [item.hit.doc ?? item.hit.id, item.hit.page && `page ${item.hit.page}`].filter(Boolean).join(", ") }), make("p", { class: "words", dir: "auto", textContent: item.hit.text }));
    const keys = CHOICES[item.kind].filter(([, , key]) => key).map(([text, , key]) => `${key} ${text.replace("★ ", "").toLowerCase()}`);
    box.append(own.control(thing, KIND[item.kind]), own.problem, make("p", { class: "muted small", textContent: `${keys.join(" · ")} · u undo · Enter next` }));
    box.append(make("p", { class: "acts" }, make("button", { type: "button", class: "main", textContent: "Next", onclick: next })));
    stage.replaceChildren(box);
    own.load();
  }

  async function press(key) {
    const choice = now && CHOICES[now.item.kind].find(([, , one]) => one === key);
    if (!choice) return;
    if (!who.name()) who.input.focus();
    const more = now.item.kind === "question" && choice[1].value === "bad" ? { reasons: now.item.reasons ?? [] } : {};
    if (await now.own.say(now.thing, choice[1], more)) await fill();
  }

  async function undo() {
    const done = now?.own.undoThing(now.thing);
    if (done) return void ((await done) && (await fill()));
    if (at > 0) {
      at -= 1;
      show();
    }
  }

  function next() {
    at += 1;
    show();
  }

  async function fill() {
    try {
      const reply = await ask(apiPath(id, "labels"));
      about.replaceChildren(make("p", { class: "lead", textContent: reply.total ? `${reply.counted}.` : "No labels yet." }), ...reply.sentences.map((text) => make("p", { class: "muted", textContent: text })));
      if (reply.total) about.append(make("a", { class: "button", href: apiPath(id, "labels/export"), download: "", textContent: "Download labels.jsonl" }));
      list.replaceChildren(...(reply.labels.length ? [table(reply.labels)] : []));
    } catch (error) {
      about.replaceChildren(problem(error, fill));
    }
  }

  function table(labels) {
    const head = make("tr", {}, ...["question", "of", "label", "by", "at (UTC)", "note", ""].map((textContent) => make("th", { scope: "col" }, make("span", { textContent }))));
    const row = (one) => make("tr", {},
      make("th", { scope: "row" }, make("a", { href: `/run/${encodeURIComponent(id)}/question?${new URLSearchParams({ id: one.question })}`, textContent: brief(one.question) })),
      make("td", { dir: "auto", textContent: [one.kind, one.hit?.id ?? one.claim ?? one.system].filter(Boolean).join(" ").slice(0, 120) }),
      make("td", { textContent: one.says }), make("td", { textContent: one.by }), make("td", { textContent: one.at.replace("T", " ").slice(0, 16) }),
      make("td", { dir: "auto", textContent: [one.reasons.join(", "), one.note].filter(Boolean).join(": ") }),
      make("td", {}, one.by === who.name() ? make("button", { type: "button", textContent: "Undo", onclick: () => takeBack(one) }) : null));
    return make("div", { class: "scroll", tabIndex: 0 }, make("table", { "aria-label": "Labels" }, make("thead", {}, head), make("tbody", {}, ...labels.map(row))));
  }

  async function takeBack(one) {
    try {
      await ask(apiPath(id, "labels/undo"), { body: { id: one.id, by: who.name() } });
      await fill();
      if (now) now.own.load();
    } catch (error) {
      about.append(problem(error));
    }
  }

  const help = bindKeys([
    [["1", "2", "3"], "Right, partly, wrong", (event) => void press(event.key)],
    [["g", "n"], "Gold or not; a good question", (event) => void press(event.key)],
    [["b"], "A bad question", () => void press("b")],
    [["u"], "Undo", () => void undo()],
    [["Enter", "ArrowRight"], "Next", () => next()],
  ]);
  place.replaceChildren(
    make("section", { id: "queue" }, make("h2", { textContent: "Worth labelling first" }), make("div", { class: "labelling" }, who.box, count, make("button", { type: "button", textContent: "Keys", onclick: help })), stage),
    make("section", { id: "labels" }, make("h2", { textContent: "Labels" }), about, list));
  await Promise.all([restart(), fill()]);
}
