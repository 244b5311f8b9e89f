// One question, opened: what was asked and expected, every system's scores, and the hits of those looked at.

const SHORT = 280; // characters of a chunk shown at first
const AROUND = 120; // characters on either side of a quote

/** The whole detail of a question; `systems` are the places of those whose hits are shown. */
function questionDetail(study, kept, q, systems) {
  const question = study.questions[q];
  const box = make("div", { class: "opened" }, make("p", { class: "asked", dir: "auto", textContent: question.text || question.id }));
  box.append(...expected(question));
  const beside = make("div", { class: "beside" });
  for (const system of [...new Set(systems)]) beside.append(foundBy(study, kept.get(system), q, system));
  box.append(beside, allScores(study, q));
  return box;
}

/** Kind and tags, reference answers and gold. */
function expected(question) {
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

/** A score with its name, or why there is none. */
function scored(name, value) {
  return typeof value === "number" ? `${name} ${figure(value)}` : `${name} – (${value ?? "no value"})`;
}

/** What one system found: scores, failure, answer, hits. */
function foundBy(study, entry, q, system) {
  const box = make("div", {}, make("h4", { textContent: study.systems[system] }));
  const values = study.scores[system]?.[q] ?? [];
  box.append(make("p", { class: "muted", textContent: study.measures.map((name, m) => scored(name, values[m])).join(" · ") }));
  const label = study.failed[system]?.[q];
  if (label) {
    const [title, meaning] = study.labels[label] ?? [label, ""];
    box.append(make("p", { class: "why" }, make("b", { textContent: `✗ ${title}` }), ` ${entry?.details[q] ?? meaning}`));
  }
  if (entry?.answers) box.append(answerDetail(study, entry, q));
  const hits = entry?.hits[q];
  if (entry?.answers) box.append(make("h4", { textContent: "Hits" }));
  if (!hits) box.append(make("p", { class: "muted", textContent: "The hits of this system are not kept in this page." }));
  else if (!hits.length) box.append(make("p", { class: "muted", textContent: "It found nothing." }));
  else box.append(hitList(study, hits, q));
  return box;
}

/** The ranked hits, with a line where the cut-off lies. */
function hitList(study, hits, q) {
  const list = make("ol", { class: "hits" });
  const quotes = (study.questions[q].gold ?? []).map(([, , quote]) => quote).filter(Boolean);
  let above = true;
  hits.forEach(([place, score, given], i) => {
    const rank = given ?? i + 1;
    if (above && rank > study.k) {
      above = false;
      list.append(make("li", { class: "cutline", textContent: `below the cut-off, k = ${study.k}` }));
    }
    list.append(hitCard(study, study.pools[q][place], score, rank, quotes));
  });
  return list;
}

/** A chunk as it was found; `rank` is its place, or the name it goes by. */
function hitCard(study, [chunkPlace, holds, legs], score, rank, quotes) {
  const [id, doc, title, url, pages, text, whole] = study.chunks[chunkPlace];
  const from = [doc || id, pages && `page ${pages}`].filter(Boolean).join(", ");
  const head = make("div", { class: "row" }, make("span", { class: "rank", textContent: typeof rank === "number" ? `#${rank}` : rank }));
  if (holds.length) head.append(make("span", { class: "mark", textContent: "★ gold" }));
  head.append(make("span", { class: "from", textContent: title && title !== doc ? `${title} · ${from}` : from }));
  const own = typeof score === "number" ? [`score ${figure(score)}`] : [];
  const told = Object.entries(legs).map(([leg, [at, value]]) => `${leg} #${at}${typeof value === "number" ? ` (${figure(value)})` : ""}`);
  const card = make("li", { class: holds.length ? "hit holds" : "hit" }, head);
  card.append(make("div", { class: "legs", textContent: [...own, ...told].join(" · ") }));
  if (holds.length) card.append(make("div", { class: "units", textContent: `holds ${holds.join("; ")}` }));
  if (url) card.append(make("div", { class: "legs" }, address(url)));
  card.append(...chunkText(text, whole, holds.length ? quotes : []), make("div", { class: "legs" }, "chunk ", make("code", { textContent: id })));
  return card;
}

/** Where a quote stands in a text, whatever its white space, as [start, end]; null where it does not. */
function quoted(text, quote) {
  const words = quote.trim().split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const found = words.length < 200 ? text.match(new RegExp(words.join("\\s+"), "i")) : null;
  return found && found[0] ? [found.index, found.index + found[0].length] : null;
}

/** The words of a chunk; `whole` is the length of a text that was cut. A long one starts short, around its quote. */
function chunkText(text, whole, quotes) {
  const shown = (whole ? `${text}… (${text.length} of ${whole} characters)` : text) || "(no text)";
  const [start, end] = quotes.map((quote) => quoted(text, quote)).find(Boolean) ?? [0, 0];
  const words = make("p", { class: "text", dir: "auto" });
  const put = (from, to) =>
    words.replaceChildren(
      from ? "… " : "",
      shown.slice(from, Math.max(start, from)),
      end ? make("mark", { textContent: shown.slice(start, end) }) : "",
      shown.slice(Math.max(end, from), to),
      to < shown.length ? " …" : "",
    );
  const before = end ? Math.max(0, start - AROUND) : 0;
  const first = before && before + shown.slice(before, start).search(/\s/) + 1; // at a word
  const last = Math.min(shown.length, Math.max(end + AROUND, SHORT));
  if (last - first >= shown.length - AROUND) {
    put(0, shown.length);
    return [words];
  }
  put(first, last);
  const button = make("button", { type: "button", "aria-expanded": "false", textContent: "Show all" });
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") !== "true";
    put(open ? 0 : first, open ? shown.length : last);
    button.textContent = open ? "Show less" : "Show all";
    button.setAttribute("aria-expanded", String(open));
  });
  return [words, button];
}

/** Every system's scores for the question, the best first. */
function allScores(study, q) {
  const rows = study.systems.map((name, s) => [name, study.scores[s]?.[q] ?? [], study.failed[s]?.[q] ?? ""]);
  const sign = study.higher ? -1 : 1;
  const key = (values) => (typeof values[0] === "number" ? sign * values[0] : Infinity);
  rows.sort((a, b) => key(a[1]) - key(b[1]) || 0);
  const head = make("tr", {}, make("th", { scope: "col", textContent: "system" }));
  head.append(...study.measures.map((name) => make("th", { scope: "col", class: "n", textContent: name })));
  head.append(make("th", { scope: "col", textContent: "failure" }));
  const body = make("tbody");
  for (const [name, values, label] of rows) {
    const row = make("tr", {}, make("th", { scope: "row", textContent: name }));
    for (const m of study.measures.keys()) {
      const value = values[m];
      row.append(make("td", { class: "n", title: typeof value === "string" ? value : "", textContent: figure(value) }));
    }
    row.append(make("td", { textContent: label ? (study.labels[label]?.[0] ?? label) : "none" }));
    body.append(row);
  }
  const table = make("table", { "aria-label": "This question by system" }, make("thead", {}, head), body);
  addSorting(table);
  const fold = make("details", {}, make("summary", { textContent: `Scores of all ${study.systems.length} systems` }));
  fold.append(make("div", { class: "table" }, make("div", { class: "scroll", tabIndex: 0 }, table)));
  return fold;
}
