// The explorer: questions in a list that can be narrowed; each is built when it is opened.

import { choice, figure, line, make } from "./dom.js";
import { foundOf, standingsOf } from "./packed.js";
import { questionDetail } from "./question.js";
import { order } from "./tables.js";

const PAGE = 40;

/** Which questions are wanted, for which system, and in what order. */
export function startExplorer(study) {
  const place = document.getElementById("explorer");
  if (!study || !place) return;
  const kept = new Map(study.found.map((entry) => [entry.system, entry]));
  const shows = study.found.map((entry) => entry.system);
  const state = { system: 0, beside: -1, text: "", kind: "", label: "", most: "", sort: "asked", shown: PAGE, opened: new Set() };
  const list = make("ol", { class: "list" });
  const count = make("output", { "aria-live": "polite" });
  const more = make("button", { type: "button", class: "more", onclick: () => (state.shown += PAGE, fill(false)) });

  const main = (q) => study.scores[state.system]?.[q]?.[0];
  const found = (q) => [...new Set([state.system, state.beside])].filter((s) => s >= 0).map((s) => foundOf(study, kept.get(s), q, s));
  const label = (q) => study.failed[state.system]?.[q] ?? "";

  function wanted(q) {
    const question = study.questions[q];
    const value = main(q);
    if (state.kind && (question.kind ?? "(none)") !== state.kind) return false;
    if (state.label === "none" ? label(q) : state.label && label(q) !== state.label) return false;
    if (state.most !== "" && !(typeof value === "number" && value <= Number(state.most))) return false;
    return !state.text || `${question.id} ${question.text} ${(question.answers ?? []).join(" ")}`.toLowerCase().includes(state.text);
  }

  function sorted(found) {
    if (state.sort === "asked") return found;
    const sign = (state.sort === "worst") === study.higher ? 1 : -1;
    const known = (q) => (typeof main(q) === "number" ? sign * main(q) : Infinity);
    return found.sort((a, b) => known(a) - known(b) || a - b);
  }

  function fill(restart = true) {
    if (restart) state.shown = PAGE;
    const found = sorted(study.questions.map((_, q) => q).filter(wanted));
    list.replaceChildren(...found.slice(0, state.shown).map(item));
    count.textContent = `${found.length} of ${study.questions.length} questions`;
    more.hidden = found.length <= state.shown;
    more.textContent = `Show ${Math.min(PAGE, found.length - state.shown)} more`;
  }

  function item(q) {
    const question = study.questions[q];
    const failed = label(q);
    const chips = make("span", { class: "chips" });
    if (question.kind) chips.append(make("span", { class: "chip", textContent: question.kind }));
    if (failed) chips.append(make("span", { class: "chip fails", textContent: `✗ ${study.labels[failed]?.[0] ?? failed}` }));
    else if (typeof main(q) === "number") chips.append(make("span", { class: "chip passes", textContent: "✓ no failure" }));
    const asked = make("span", { class: "asked", dir: "auto" }, question.text ? `${question.id}: ${question.text}` : question.id);
    const score = make("span", { class: "score", title: study.measures[0] ?? "", textContent: figure(main(q), 3) });
    const opener = make("button", { type: "button", class: "opener", "aria-expanded": "false" }, score, asked, chips);
    const box = make("li", { class: "item", id: `q${q}` }, opener);
    const toggle = (open) => {
      opener.setAttribute("aria-expanded", String(open));
      box.querySelector(".opened")?.remove();
      if (open) state.opened.add(q);
      else state.opened.delete(q);
      if (open) box.append(questionDetail(study.questions[q], found(q), { ...study, standings: standingsOf(study, q) }));
    };
    opener.addEventListener("click", () => toggle(opener.getAttribute("aria-expanded") !== "true"));
    if (state.opened.has(q)) toggle(true);
    return box;
  }

  /** Follows an address like #q12: clears what hides the question, opens it and goes there. */
  function follow() {
    const found = location.hash.match(/^#q(\d+)$/);
    const q = found ? Number(found[1]) : NaN;
    if (!(q < study.questions.length)) return;
    state.opened.add(q);
    if (!wanted(q)) {
      Object.assign(state, { text: "", kind: "", label: "", most: "" });
      tools.querySelectorAll("input, select[data-narrows]").forEach((control) => (control.value = ""));
    }
    state.shown = Math.max(state.shown, study.questions.length);
    fill(false);
    const box = document.getElementById(`q${q}`);
    box.scrollIntoView();
    box.querySelector(".opener").focus({ preventScroll: true });
  }

  const set = (name, number = false) => (value) => {
    state[name] = number ? Number(value) : value;
    fill();
  };
  const values = (all) => [["", "all"], ...[...new Set(all)].sort(order.compare).map((value) => [value, value])];
  const systems = (shows.length ? shows : study.systems.map((_, s) => s)).map((s) => [s, study.systems[s]]);
  const seen = [...new Set(study.failed.flatMap((labels) => Object.values(labels)))];
  const narrow = (made) => (made.select.setAttribute("data-narrows", ""), made.box);
  const tools = make("div", { class: "tools" });
  tools.append(
    line("Search", (text) => set("text")(text.trim().toLowerCase())).box,
    choice("System", systems, set("system", true)).box,
    choice("Beside it", [[-1, "nothing"], ...systems], set("beside", true)).box,
    narrow(choice("Kind", values(study.questions.map((q) => q.kind ?? "(none)")), set("kind"))),
    narrow(choice("Failure", [["", "all"], ["none", "no failure"], ...seen.map((l) => [l, study.labels[l]?.[0] ?? l])], set("label"))),
    line(`${study.measures[0] ?? "score"} at most`, set("most"), { type: "number", step: "any", class: "short" }).box,
    choice("Order", [["asked", "as asked"], ["worst", "worst first"], ["best", "best first"]], set("sort")).box,
    count,
  );
  if (systems.length) state.system = systems[0][0];
  place.replaceChildren(tools, list, more);
  fill();
  addEventListener("hashchange", follow);
  follow();
}
