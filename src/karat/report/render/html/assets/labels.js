// Labels: what people say of hits, answers, claims and questions. What is shown as said is what the server stored.

import { apiPath, ask } from "./api.js";
import { make } from "./dom.js";

const NAME = "karat-name";
const HIT = [["★ Gold", { grade: 1 }, "g"], ["2", { grade: 2 }, "", "Gold, grade 2"], ["3", { grade: 3 }, "", "Gold, grade 3"], ["Not gold", { grade: 0 }, "n"]];
const ANSWER = [["Right", { value: "right" }, "1"], ["Partly", { value: "partly" }, "2"], ["Wrong", { value: "wrong" }, "3"]];
const CLAIM = [["Supported", { value: "supported" }, "1"], ["Not supported", { value: "unsupported" }, "3"]];
const QUESTION = [["Good", { value: "good" }, "g"], ["Bad", { value: "bad" }, "b"]];
export const CHOICES = { hit: HIT, answer: ANSWER, claim: CLAIM, question: QUESTION };

/** The name that one labels by, kept in this browser. */
export function ownName() {
  try {
    return localStorage.getItem(NAME) ?? "";
  } catch {
    return "";
  }
}

/** A line for one's name; `changed` is told when it is another. */
export function nameLine(changed) {
  const input = make("input", { value: ownName(), maxLength: 80, autocomplete: "name", placeholder: "your name", class: "name" });
  input.addEventListener("change", () => {
    try {
      localStorage.setItem(NAME, input.value.trim());
    } catch {
      // it holds as long as the page does
    }
    changed();
  });
  return { box: make("label", { class: "who" }, "You label as", input), input, name: () => input.value.trim() };
}

const sameHit = (a, b) => a?.id === b?.id && (!a?.doc || !b?.doc || a.doc === b.doc);
const same = (mark, thing) => mark.kind === thing.kind && mark.question === thing.question && (thing.kind === "hit" ? sameHit(mark.hit, thing.hit) : thing.kind === "question" || (mark.system === thing.system && (mark.claim ?? null) === (thing.claim ?? null)));
const says = (mark, fields) => Object.entries(fields).every(([name, value]) => mark[name] === value);

/** What is said of one question, and controls to say it; `told` gets how many labels it has by now. */
export function labeller(run, question, told = () => {}) {
  const problem = make("p", { class: "problem small", role: "alert", hidden: true });
  const who = nameLine(renderAll);
  const undoButton = make("button", { type: "button", textContent: "Undo", hidden: true, onclick: () => undoLast() });
  const controls = [];
  const mine = []; // ids in the order in which they were made here
  let labels = [];
  let reasons = [];

  function refuse(error, remedy) {
    problem.textContent = [error.message, error.remedy ?? remedy].filter(Boolean).join(" ");
    problem.hidden = false;
  }

  function take(reply) {
    labels = reply.labels;
    if (reply.reasons) reasons = reply.reasons;
    problem.hidden = true;
    renderAll();
    told(reply.total);
  }

  function renderAll() {
    undoButton.hidden = !labels.some((one) => one.by === who.name());
    for (const control of controls) control();
  }

  async function post(part, body) {
    if (!who.name()) {
      refuse(new Error("Say who you are first."));
      who.input.focus();
      return null;
    }
    try {
      const reply = await ask(apiPath(run, part), { body: { ...body, by: who.name() } });
      take(reply);
      return reply;
    } catch (error) {
      renderAll(); // back to what is stored
      refuse(error);
      return null;
    }
  }

  async function say(thing, fields, more = {}) {
    const own = labels.find((one) => one.by === who.name() && same(one, thing));
    if (own && says(own, fields) && !more.reasons) return undo(own.id);
    const reply = await post("labels", { ...thing, ...fields, ...more });
    if (reply) mine.push(reply.label.id);
    return reply;
  }

  const undo = (id) => post("labels/undo", { id });

  function undoLast() {
    const own = labels.filter((one) => one.by === who.name());
    const last = mine.findLast((id) => own.some((one) => one.id === id)) ?? own[0]?.id;
    return last ? undo(last) : null;
  }

  /** Takes back what one says of a thing; null where that is nothing. */
  function undoThing(thing) {
    const own = labels.find((one) => one.by === who.name() && same(one, thing));
    return own ? undo(own.id) : null;
  }

  /** Buttons that say one of a few things; pressing what is said takes it back. */
  function control(thing, title) {
    const others = make("span", { class: "others" });
    const buttons = CHOICES[thing.kind].map(([text, fields, , hint]) => {
      const button = make("button", { type: "button", "aria-pressed": "false", title: hint ?? "", textContent: text });
      if (hint) button.setAttribute("aria-label", hint);
      button.addEventListener("click", async () => {
        box.setAttribute("aria-busy", "true");
        await say(thing, fields);
        box.removeAttribute("aria-busy");
      });
      return [button, fields];
    });
    const box = make("div", { class: "marks", role: "group", "aria-label": title }, ...buttons.map(([button]) => button), others);
    const render = () => {
      const about = labels.filter((one) => same(one, thing));
      const own = about.find((one) => one.by === who.name());
      for (const [button, fields] of buttons) button.setAttribute("aria-pressed", String(Boolean(own && says(own, fields))));
      others.replaceChildren(...about.filter((one) => one !== own).map((one) => make("span", { class: own && own.says !== one.says ? "chip warns" : "chip", textContent: `${one.by}: ${one.says}` })));
    };
    controls.push(render);
    render();
    return box;
  }

  /** Good, or bad with the reasons for it. */
  function questionControl() {
    const thing = { kind: "question", question };
    const box = control(thing, "Label the question");
    const note = make("input", { maxLength: 4000, "aria-label": "Note", placeholder: "note" });
    const list = make("div", { class: "reasons" });
    const fold = make("details", { class: "quiet" }, make("summary", { textContent: "Why it is bad" }), list, note);
    const button = make("button", { type: "button", textContent: "Mark as bad" });
    button.addEventListener("click", async () => {
      const chosen = [...list.querySelectorAll("input:checked")].map((one) => one.value);
      if (await say(thing, { value: "bad" }, { reasons: chosen, note: note.value })) fold.open = false;
    });
    fold.append(button);
    const shown = make("div", { class: "muted small" });
    controls.push(() => {
      if (!list.childElementCount) list.append(...reasons.map(({ name, title }) => make("label", {}, make("input", { type: "checkbox", value: name }), title)));
      const bad = labels.filter((one) => one.kind === "question" && (one.reasons.length || one.note));
      shown.replaceChildren(...bad.map((one) => make("div", { dir: "auto", textContent: `${one.by}: ${[...one.reasons.map((name) => name.replaceAll("_", " ")), one.note].filter(Boolean).join(", ")}` })));
    });
    return make("div", {}, make("b", { textContent: "Question" }), " ", box, shown, fold);
  }

  const load = () => ask(apiPath(run, "labels", new URLSearchParams({ question }))).then(take, refuse);

  /** Controls over what one system found. */
  function of(system) {
    return {
      hit: (hit) => control({ kind: "hit", question, system, hit: { id: hit.id, ...(hit.doc ? { doc: hit.doc } : {}) } }, `Label hit ${hit.id}`),
      answer: () => control({ kind: "answer", question, system }, `Label the answer of ${system}`),
      claim: (claim) => control({ kind: "claim", question, system, claim }, `Label the claim: ${claim.slice(0, 80)}`),
    };
  }

  const head = () => make("div", { class: "labelling" }, who.box, undoButton, questionControl(), problem);
  return { head, of, load, say, undoThing, control, who, problem };
}
