// Answers: one in full, with citations, support, verdicts and contexts.

import { figure, make, visible } from "./dom.js";
import { hitCard, scoreLine } from "./hits.js";

/** An answer of a system; `opened` shows its contexts at once. */
export function answerDetail(answer, quotes, opened = false, marks = null) {
  const box = make("div", { class: "answer" });
  const chips = make("span", { class: "chips" });
  if (answer.declined) chips.append(make("span", { class: "chip warns", textContent: "declines" }));
  if (answer.error) chips.append(make("span", { class: "chip fails", textContent: "✗ failed" }));
  box.append(make("h4", {}, "Answer ", chips));
  const spoken = make("p", { class: answer.text ? "words" : "muted", dir: "auto" });
  spoken.append(...(answer.text ? cited(visible(answer.text), answer.contexts ?? [], (n) => goToContext(box, n)) : [answer.error ? `It failed: ${answer.error}` : "no answer"]));
  box.append(spoken);
  if (marks && answer.text) box.append(marks.answer());
  if (answer.about) box.append(make("p", { class: "muted small", textContent: answer.about }));
  if (answer.scores?.length) box.append(answerScores(answer.scores));
  if (answer.missing) box.append(make("h4", { textContent: "What it misses" }), make("ul", { class: "missing" }, ...several(answer.missing, (claim) => make("li", { dir: "auto", textContent: claim }))));
  if (answer.verdicts) box.append(...answer.verdicts.map((verdict) => verdictDetail(verdict, opened, marks)));
  if (answer.sentences) box.append(supportDetail(answer.sentences, opened, marks));
  if (answer.contexts?.length) box.append(contextList(answer.contexts, quotes, opened));
  return box;
}

/** The items of a list whose last entry may be the number of those left out. */
function several(rows, item) {
  const left = typeof rows.at(-1) === "number" ? rows.at(-1) : 0;
  const made = (left ? rows.slice(0, -1) : rows).map(item);
  return left ? [...made, make("li", { class: "muted", textContent: `and ${left} more` })] : made;
}

/** Words in which each citation of a context, like [2] or [1, 3], leads to it. */
function cited(words, contexts, follow) {
  const parts = [];
  let last = 0;
  for (const found of words.matchAll(/\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]/g)) {
    parts.push(words.slice(last, found.index), "[");
    for (const piece of found[1].split(/(\d+)/)) {
      const n = Number(piece);
      const known = /^\d+$/.test(piece) && n >= 1 && n <= contexts.length;
      parts.push(known ? make("button", { type: "button", class: "cite", title: `context ${n}`, "aria-label": `Go to context ${n}`, textContent: piece, onclick: () => follow(n) }) : piece);
    }
    parts.push("]");
    last = found.index + found[0].length;
  }
  return [...parts, words.slice(last)].filter(Boolean);
}

function goToContext(box, n) {
  const card = box.querySelector(`[data-context="${n}"]`);
  if (!card) return;
  card.closest("details").open = true;
  box.querySelectorAll(".cited").forEach((one) => one.classList.remove("cited"));
  card.classList.add("cited");
  card.scrollIntoView({ block: "nearest" });
}

/** Measures with a value in a row; those without one, and why, on demand. */
function answerScores(scores) {
  const line = make("p", { class: "muted small" });
  const known = scores.filter(([, value]) => typeof value === "number");
  line.append(scoreLine(known) || "no score");
  const without = scores.filter(([, value]) => typeof value !== "number");
  if (!without.length) return line;
  const fold = make("details", { class: "quiet" }, make("summary", { textContent: `${without.length} without a value` }));
  fold.append(make("ul", {}, ...without.map(([name, value]) => make("li", { textContent: `${name}: ${value}` }))));
  return make("div", {}, line, fold);
}

/** What a judge said: value, who, why, and its claims. */
function verdictDetail([measure, value, who, reason, repeats, claims], opened, marks) {
  const head = make("summary", {}, make("b", { textContent: `${measure} ${figure(value, 3)}` }));
  if (who === "heuristic") head.append(" ", make("span", { class: "chip warns", textContent: "heuristic" }));
  else if (who) head.append(make("span", { textContent: who }));
  if (repeats.length) head.append(make("span", { textContent: `asked ${repeats.length} times: ${repeats.map((one) => figure(one, 2)).join(", ")}${new Set(repeats).size > 1 ? " (flips)" : ""}` }));
  const fold = make("details", { class: "verdict", open: opened }, head);
  fold.append(make("p", { class: reason ? "words" : "muted", dir: "auto", textContent: reason || "no reason given" }));
  const item = ([claim, verdict, contexts, why]) =>
    make("li", {}, verdict ? make("span", { class: "chip", textContent: verdict }) : null, verdict ? " " : null,
      make("span", { dir: "auto", textContent: claim }), contexts ? make("span", { class: "muted", textContent: ` (context ${contexts})` }) : null,
      why ? make("div", { class: "muted small", dir: "auto", textContent: why }) : null, marks ? marks.claim(claim) : null);
  if (claims.length) fold.append(make("ul", { class: "claims" }, ...several(claims, item)));
  return fold;
}

/** Each sentence of the answer with the one of a context that supports it best. */
function supportDetail(sentences, opened, marks) {
  const rows = sentences.filter((row) => typeof row !== "number");
  const held = rows.filter(([, , , , supported]) => supported).length;
  const fold = make("details", { open: opened }, make("summary", { textContent: `Support: ${held} of ${rows.length} sentences` }));
  const item = ([text, support, context, by, supported]) =>
    make("li", { class: supported ? "held" : "unheld" },
      make("span", { class: supported ? "chip passes" : "chip fails", textContent: `${supported ? "✓" : "✗"} ${typeof support === "number" ? figure(support, 2) : "no support"}` }), " ",
      make("span", { dir: "auto", textContent: text }),
      by ? make("blockquote", { dir: "auto", textContent: by }) : make("div", { class: "muted small", textContent: "Nothing in the contexts comes near it." }),
      by && context ? make("div", { class: "muted small", textContent: `context ${context}` }) : null,
      marks ? marks.claim(text) : null);
  fold.append(make("ul", { class: "claims" }, ...several(sentences, item)));
  return fold;
}

/** The contexts that the answer was made from, by number; those with gold are marked. */
function contextList(contexts, quotes, opened) {
  const gold = contexts.filter((hit) => hit?.holds.length).length;
  const count = contexts.length === 1 ? "1 context used" : `${contexts.length} contexts used`;
  const fold = make("details", { open: opened }, make("summary", { textContent: `${count}, ${gold || "none"} with gold` }));
  const list = make("ol", { class: "hits" });
  contexts.forEach((hit, i) => {
    const card = hit ? hitCard(hit, quotes) : make("li", { class: "hit", textContent: `[${i + 1}] Its text is not kept.` });
    card.setAttribute("data-context", i + 1);
    list.append(card);
  });
  fold.append(list);
  return fold;
}
