// Facets: how many questions each kind, tag and failure has, as bars that can be pressed.

import { figure, make } from "./dom.js";
import { params, toggle } from "./state.js";

const NONE = "(none)"; // what stands for questions without a kind, as in core/types.py
const FEW = 8; // values before the rest is folded

/** The facets of a reply; `system` is whose failures are counted, `press` takes the parameter and value of a bar. */
export function facetBars(reply, facts, system, press = toggle) {
  const titles = new Map(facts.failures.map(({ label, title }) => [label, title]));
  const parts = [];
  const means = Object.entries(reply.means ?? {});
  if (means.length && press === toggle) parts.push(meanBars(means, reply, facts)); // elsewhere tables have them
  const failures = reply.failures?.[system] ?? [];
  if (failures.length) parts.push(bars("Why it fails", `of ${system}`, "failure", failures, press, (value) => titles.get(value) ?? value));
  if (reply.kinds?.some(({ value }) => value !== NONE)) parts.push(bars("Kind", "", "kind", reply.kinds, press));
  for (const [tag, values] of Object.entries(reply.tags ?? {})) if (values.length) parts.push(bars(tag, "", `tag.${tag}`, values, press));
  return parts;
}

/** The mean of each system over what is listed, with its n. */
function meanBars(means, { measure, total, of }, facts) {
  const [low, high] = facts.measures.find(({ name }) => name === measure)?.range ?? [];
  const most = typeof high === "number" ? high : Math.max(...means.map(([, { mean }]) => mean ?? 0));
  const least = typeof low === "number" ? low : 0;
  const share = (mean) => (typeof mean === "number" && most > least ? Math.max(0, Math.min(1, (mean - least) / (most - least))) : 0);
  const row = ([system, { mean, n }]) => make("li", { class: "mean", title: `${system}: ${figure(mean, 3)}, the mean of ${n.toLocaleString("en")} questions with a value` }, bar(share(mean)), make("span", { class: "name", dir: "auto", textContent: system }), make("span", { class: "n", textContent: figure(mean, 3) }), make("small", { textContent: `n ${n.toLocaleString("en")}` }));
  const listed = total < of ? `of the ${total.toLocaleString("en")} listed` : "of all questions";
  return make("section", { class: "facet" }, make("h3", {}, `Mean ${measure} `, make("small", { textContent: listed })), make("ul", {}, ...means.map(row)));
}

function bar(share) {
  const made = make("i", { "aria-hidden": "true" });
  made.style.setProperty("--v", share.toFixed(4));
  return made;
}

function bars(title, of, name, values, press, words = (value) => value) {
  const most = Math.max(...values.map(({ n }) => n), 1);
  const chosen = params().getAll(name);
  const row = ({ value, n }) => {
    const button = make("button", { type: "button", "aria-pressed": String(chosen.includes(value)), onclick: () => press(name, value), title: words(value) },
      bar(n / most), make("span", { class: "name", dir: "auto", textContent: words(value) }), make("span", { class: "n", textContent: n.toLocaleString("en") }));
    button.setAttribute("data-value", value);
    button.setAttribute("data-key", `${name}=${value}`);
    return make("li", {}, button);
  };
  const gone = chosen.filter((value) => !values.some((one) => one.value === value)).map((value) => ({ value, n: 0 }));
  const rows = [...values, ...gone].map(row);
  const rest = rows.filter((one, place) => place >= FEW && one.querySelector('[aria-pressed="false"]')); // what is pressed is never folded
  const list = make("ul", {}, ...rows.filter((one) => !rest.includes(one)));
  const box = make("section", { class: "facet" }, make("h3", {}, title, of ? make("small", { textContent: ` ${of}` }) : null), list);
  if (rest.length) {
    const more = make("button", { type: "button", class: "quietly", textContent: `${rest.length} more`, onclick: () => (list.append(...rest), more.remove()) });
    box.append(more);
  }
  return box;
}
