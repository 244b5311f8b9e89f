// Answers: one in full, with citations, support, verdicts and contexts; and the list of the worst.

/** An answer of a system; `opened` shows its contexts at once. */
function answerDetail(study, entry, q, opened = false) {
  const words = entry.answers?.[q];
  const known = entry.said?.[q] ?? {};
  const box = make("div", { class: "answer" });
  const chips = make("span", { class: "chips" });
  if (known.declined) chips.append(make("span", { class: "chip warns", textContent: "declines" }));
  if (known.error) chips.append(make("span", { class: "chip fails", textContent: "✗ failed" }));
  box.append(make("h4", {}, "Answer ", chips));
  const spoken = make("p", { class: words ? "words" : "muted", dir: "auto" });
  spoken.append(...(words ? cited(words, known.contexts ?? [], (n) => goToContext(box, n)) : [known.error ? `It failed: ${known.error}` : "no answer"]));
  box.append(spoken);
  if (known.about) box.append(make("p", { class: "muted small", textContent: known.about }));
  const scores = (known.scores ?? []).map((value, m) => [study.answer_measures[m], value]);
  if (scores.length) box.append(answerScores(scores));
  if (known.missing) box.append(make("h4", { textContent: "What it misses" }), make("ul", { class: "missing" }, ...several(known.missing, (claim) => make("li", { dir: "auto", textContent: claim }))));
  if (known.verdicts) box.append(...known.verdicts.map((verdict) => verdictDetail(verdict, opened)));
  if (known.sentences) box.append(supportDetail(known.sentences, opened));
  if (known.contexts) box.append(contextList(study, known.contexts, q, opened));
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
  line.append(known.map(([name, value]) => scored(name, value)).join(" · ") || "no score");
  const without = scores.filter(([, value]) => typeof value !== "number");
  if (!without.length) return line;
  const fold = make("details", { class: "quiet" }, make("summary", { textContent: `${without.length} without a value` }));
  fold.append(make("ul", {}, ...without.map(([name, value]) => make("li", { textContent: `${name}: ${value}` }))));
  return make("div", {}, line, fold);
}

/** What a judge said: value, who, why, and its claims. */
function verdictDetail([measure, value, who, reason, repeats, claims], opened) {
  const head = make("summary", {}, make("b", { textContent: `${measure} ${figure(value, 3)}` }));
  if (who === "heuristic") head.append(" ", make("span", { class: "chip warns", textContent: "heuristic" }));
  else if (who) head.append(make("span", { textContent: who }));
  if (repeats.length) head.append(make("span", { textContent: `asked ${repeats.length} times: ${repeats.map((one) => figure(one, 2)).join(", ")}${new Set(repeats).size > 1 ? " (flips)" : ""}` }));
  const fold = make("details", { class: "verdict", open: opened }, head);
  fold.append(make("p", { class: reason ? "words" : "muted", dir: "auto", textContent: reason || "no reason given" }));
  const item = ([claim, verdict, contexts, why]) =>
    make("li", {}, verdict ? make("span", { class: "chip", textContent: verdict }) : null, verdict ? " " : null,
      make("span", { dir: "auto", textContent: claim }), contexts ? make("span", { class: "muted", textContent: ` (context ${contexts})` }) : null,
      why ? make("div", { class: "muted small", dir: "auto", textContent: why }) : null);
  if (claims.length) fold.append(make("ul", { class: "claims" }, ...several(claims, item)));
  return fold;
}

/** Each sentence of the answer with the one of a context that supports it best. */
function supportDetail(sentences, opened) {
  const rows = sentences.filter((row) => typeof row !== "number");
  const held = rows.filter(([, , , , supported]) => supported).length;
  const fold = make("details", { open: opened }, make("summary", { textContent: `Support: ${held} of ${rows.length} sentences` }));
  const item = ([text, support, context, by, supported]) =>
    make("li", { class: supported ? "held" : "unheld" },
      make("span", { class: supported ? "chip passes" : "chip fails", textContent: `${supported ? "✓" : "✗"} ${typeof support === "number" ? figure(support, 2) : "no support"}` }), " ",
      make("span", { dir: "auto", textContent: text }),
      by ? make("blockquote", { dir: "auto", textContent: by }) : make("div", { class: "muted small", textContent: "Nothing in the contexts comes near it." }),
      by && context ? make("div", { class: "muted small", textContent: `context ${context}` }) : null);
  fold.append(make("ul", { class: "claims" }, ...several(sentences, item)));
  return fold;
}

/** The contexts that the answer was made from, by number; those with gold are marked. */
function contextList(study, places, q, opened) {
  const quotes = (study.questions[q].gold ?? []).map(([, , quote]) => quote).filter(Boolean);
  const gold = places.filter((place) => place !== null && study.pools[q][place][1].length).length;
  const count = places.length === 1 ? "1 context used" : `${places.length} contexts used`;
  const fold = make("details", { open: opened }, make("summary", { textContent: `${count}, ${gold || "none"} with gold` }));
  const list = make("ol", { class: "hits" });
  places.forEach((place, i) => {
    const card = place === null ? make("li", { class: "hit", textContent: `[${i + 1}] Its text is not kept.` }) : hitCard(study, study.pools[q][place], null, `[${i + 1}]`, quotes);
    card.setAttribute("data-context", i + 1);
    list.append(card);
  });
  fold.append(list);
  return fold;
}

/** The worst answers of one system at a time. */
function startAnswers(study) {
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
      detail.append(...expected(question), answerDetail(study, kept.get(system), q, true));
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
