// A packed study: what report.html holds of its questions, unpacked for those that show it.

/** A hit of a question's pool; `rank` is its place, or the name it goes by. */
export function hitOf(study, q, place, score = null, rank = null) {
  const [chunk, holds, engines] = study.pools[q][place];
  const [id, doc, title, url, page, text, whole] = study.chunks[chunk];
  return { id, doc, title, url, page, text, whole, holds, engines, score, rank };
}

/** An answer with its contexts, or null where the page holds none of this system. */
export function answerOf(study, entry, q) {
  if (!entry?.answers) return null;
  const known = entry.said?.[q] ?? {};
  const contexts = known.contexts?.map((place, i) => (place === null ? null : hitOf(study, q, place, null, `[${i + 1}]`)));
  const scores = (known.scores ?? []).map((value, m) => [study.answer_measures[m], value]);
  return { ...known, text: entry.answers[q], contexts, scores };
}

/** What one system found: scores, failure, answer and hits. */
export function foundOf(study, entry, q, system) {
  const values = study.scores[system]?.[q] ?? [];
  const label = study.failed[system]?.[q];
  const [title, meaning] = label ? (study.labels[label] ?? [label, ""]) : [];
  return {
    system: study.systems[system],
    scores: study.measures.map((name, m) => [name, values[m]]),
    failure: label ? { label, title, detail: entry?.details[q] ?? meaning } : null,
    answer: answerOf(study, entry, q),
    hits: entry?.hits[q]?.map(([place, score, rank], i) => hitOf(study, q, place, score, rank ?? i + 1)) ?? null,
  };
}

/** Every system with its scores and failure, as the table of a question takes them. */
export function standingsOf(study, q) {
  return study.systems.map((system, s) => {
    const label = study.failed[s]?.[q] ?? "";
    return { system, values: study.scores[s]?.[q] ?? [], failure: label && (study.labels[label]?.[0] ?? label) };
  });
}
