// Terms: the words of a question, and where a text has them.

import { make } from "./dom.js";

const SHORTEST = 4; // letters of a word worth marking, in scripts that write words with spaces
const words = new Intl.Segmenter(undefined, { granularity: "word" });
const folded = (word) => word.normalize("NFKC").toLowerCase();

/** The words of a text worth marking: longer ones, numbers, and those of scripts with short words. */
export function termsOf(text) {
  const found = [...words.segment(text)].filter((one) => one.isWordLike).map((one) => folded(one.segment));
  return new Set(found.filter((word) => [...word].length >= SHORTEST || /\p{N}|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]/u.test(word)));
}

/** Whether a word is one of the terms, or one with another ending. */
function isTerm(word, terms) {
  if (terms.has(word)) return true;
  const near = (a, b) => a.length > SHORTEST && b.startsWith(a) && b.length - a.length <= 2;
  return [...terms].some((term) => near(term, word) || near(word, term));
}

/** A text as strings and marked elements; as it is where there are no terms. */
export function marked(text, terms) {
  if (!terms?.size || !text) return [text];
  const parts = [];
  let plain = "";
  for (const { segment, isWordLike } of words.segment(text)) {
    if (!isWordLike || !isTerm(folded(segment), terms)) {
      plain += segment;
      continue;
    }
    parts.push(plain, make("mark", { class: "term", textContent: segment }));
    plain = "";
  }
  return [...parts, plain].filter(Boolean);
}
