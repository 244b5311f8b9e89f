// The worst answers of one system at a time.

import { answerDetail } from "./answers.js";
import { choice, figure, make } from "./dom.js";
import { quotesOf } from "./hits.js";
import { answerOf } from "./packed.js";
import { expected } from "./question.js";

export function startAnswers(study) {
  const place = document.getElementById("worst");
  if (!study || !place) return;
  const { measure, lists } = study.worst;
  const kept = new Map(study.found.map((entry) => [entry.system, entry]));
  const worst = new Map(lists ?? []);
  const systems = [...worst.keys()].filter((s) => kept.has(s));
  if (!systems.length) {
    place.replaceChildren(make("p", { class: "muted", textContent: "No answer has a score, or none is kept in this page; results.json holds them." }));
    return;
  }
  const list = make("ol", { class: "list" });
  const count = make("output", { "aria-live": "polite" });
  function item(system, q, value, first) {
    const question = study.questions[q];
    const label = study.failed[system]?.[q];
    const chips = make("span", { class: "chips" });
    if (question.kind) chips.append(make("span", { class: "chip", textContent: question.kind }));
    if (label) chips.append(make("span", { class: "chip fails", textContent: `✗ ${study.labels[label]?.[0] ?? label}` }));
    const asked = make("span", { class: "asked", dir: "auto" }, question.text ? `${question.id}: ${question.text}` : question.id);
    const opener = make("button", { type: "button", class: "opener", "aria-expanded": "false" },
      make("span", { class: "score", title: measure, textContent: figure(value, 3) }), asked, chips);
    const box = make("li", { class: "item" }, opener);
    const toggle = (open) => {
      opener.setAttribute("aria-expanded", String(open));
      box.querySelector(".opened")?.remove();
      if (!open) return;
      const detail = make("div", { class: "opened" }, make("p", { class: "asked", dir: "auto", textContent: question.text || question.id }));
      detail.append(...expected(question), answerDetail(answerOf(study, kept.get(system), q), quotesOf(question), true));
      detail.append(make("p", {}, make("a", { href: `#q${q}`, textContent: "What every system found for this question" })));
      box.append(detail);
    };
    opener.addEventListener("click", () => toggle(opener.getAttribute("aria-expanded") !== "true"));
    if (first) toggle(true);
    return box;
  }
  function fill(system) {
    list.replaceChildren(...worst.get(system).map(([q, value], i) => item(system, q, value, i === 0)));
    count.textContent = `${worst.get(system).length} of ${study.questions.length} questions, the worst first`;
  }
  const chosen = choice("System", systems.map((s) => [s, study.systems[s]]), (value) => fill(Number(value)));
  place.replaceChildren(make("div", { class: "tools" }, chosen.box, count), list);
  if (systems.length < worst.size) place.append(make("p", { class: "muted", textContent: `The answers of ${systems.length} of ${worst.size} systems are kept in this page; results.json holds all.` }));
  fill(systems[0]);
}
