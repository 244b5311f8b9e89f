// Hits: the chunks that a system returned, by rank, with what each holds and where each engine had it.

import { address, figure, make, visible } from "./dom.js";
import { marked } from "./terms.js";

const SHORT = 280; // characters of a chunk shown at first
const AROUND = 120; // characters on either side of a quote

/** Scores with their names; those that are missing for one reason stand together, and it is said once. */
export function scoreLine(scores) {
  const groups = new Map();
  for (const [name, value] of scores) {
    const reason = typeof value === "number" ? null : (value ?? "no value");
    const key = reason === null ? `${name} ${figure(value)}` : `– (${reason})`;
    groups.set(key, reason === null ? [] : [...(groups.get(key) ?? []), name]);
  }
  return [...groups].map(([key, names]) => (names.length ? `${names.join(", ")} ${key}` : key)).join(" · ");
}

/** The quotes of a question's gold. */
export function quotesOf(question) {
  return (question.gold ?? []).map(([, , quote]) => quote).filter(Boolean);
}

/** The ranked hits, with a line where the cut-off lies. */
export function hitList(hits, k, quotes, terms, marks) {
  const list = make("ol", { class: "hits" });
  let above = true;
  for (const hit of hits) {
    if (above && hit.rank > k) {
      above = false;
      list.append(make("li", { class: "cutline", textContent: `below the cut-off, k = ${k}` }));
    }
    list.append(hitCard(hit, quotes, terms, marks));
  }
  return list;
}

/** A chunk as it was found; its rank is a place, or the name it goes by. `marks` makes controls to label it. */
export function hitCard(hit, quotes, terms, marks) {
  const { id, doc, title, url, page, holds = [], engines = {}, score, rank } = hit;
  const from = [doc || id, page && `page ${page}`].filter(Boolean).join(", ");
  const head = make("div", { class: "row" }, make("span", { class: "rank", textContent: typeof rank === "number" ? `#${rank}` : rank }));
  if (holds.length) head.append(make("span", { class: "mark", textContent: "★ gold" }));
  head.append(make("span", { class: "from", textContent: title && title !== doc ? `${title} · ${from}` : from }));
  const own = typeof score === "number" ? [`score ${figure(score)}`] : [];
  const each = Object.entries(engines).map(([engine, [at, value]]) => `${engine} #${at}${typeof value === "number" ? ` (${figure(value)})` : ""}`);
  const card = make("li", { class: holds.length ? "hit holds" : "hit" }, head);
  card.append(make("div", { class: "legs", textContent: [...own, ...each].join(" · ") }));
  if (hit.elsewhere) card.append(make("div", { class: "legs", textContent: hit.elsewhere }));
  if (holds.length) card.append(make("div", { class: "units", textContent: `holds ${holds.join("; ")}` }));
  if (url) card.append(make("div", { class: "legs" }, address(url)));
  card.append(...chunkText(hit, holds.length ? quotes : [], terms), make("div", { class: "legs" }, "chunk ", make("code", { textContent: id })));
  if (marks) card.append(marks.hit(hit));
  return card;
}

/** Where a quote stands in a text, whatever its white space, as [start, end]; null where it does not. */
function quoted(text, quote) {
  const words = quote.trim().split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const found = words.length < 200 ? text.match(new RegExp(words.join("\\s+"), "i")) : null;
  return found && found[0] ? [found.index, found.index + found[0].length] : null;
}

/** The words of a chunk; `whole` is the length of a text that was cut. A long one starts short, around its quote. */
function chunkText({ text, whole }, quotes, terms) {
  const words = visible(text ?? "");
  const shown = (whole ? `${words}… (${words.length} of ${whole} characters)` : words) || "(no text)";
  const [start, end] = quotes.map((quote) => quoted(words, visible(quote))).find(Boolean) ?? [0, 0];
  const place = make("p", { class: "text", dir: "auto" });
  const put = (from, to) =>
    place.replaceChildren(
      from ? "… " : "",
      ...marked(shown.slice(from, Math.max(start, from)), terms),
      end ? make("mark", { textContent: shown.slice(start, end) }) : "",
      ...marked(shown.slice(Math.max(end, from), to), terms),
      to < shown.length ? " …" : "",
    );
  const before = end ? Math.max(0, start - AROUND) : 0;
  const first = before && before + shown.slice(before, start).search(/\s/) + 1; // at a word
  const last = Math.min(shown.length, Math.max(end + AROUND, SHORT));
  if (last - first >= shown.length - AROUND) {
    put(0, shown.length);
    return [place];
  }
  put(first, last);
  const button = make("button", { type: "button", "aria-expanded": "false", textContent: "Show all" });
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") !== "true";
    put(open ? 0 : first, open ? shown.length : last);
    button.textContent = open ? "Show less" : "Show all";
    button.setAttribute("aria-expanded", String(open));
  });
  return [place, button];
}
