// Tuning: settings of retrieval that are moved, and the figures that follow. What is set stands in the address.

import { apiPath, ask, notice, persist, problem } from "./api.js";
import { copyButton } from "./copy.js";
import { alphaCurve } from "./curve.js";
import { breakable, brief, choice, figure, line, make, refill, signed } from "./dom.js";
import { change, know, listen, params } from "./state.js";
import { marked, termsOf } from "./terms.js";

const CONTROL_TITLES = { fusion: "Fusion", alpha: "Alpha: weight of dense", normalise: "Normalisation", rrf_k: "Constant of rrf", depth: "Depth: hits of each engine", k: "Cut-off k" };
const NOTE = { dense: "meaning", bm25: "words" };
const SLIDER_REST = 180; // ms without a movement before intervals and the curve are asked for
const POLL = 500;
const SHOWN = 8; // questions that are named before the rest is folded

const wait = (ms) => new Promise((go) => setTimeout(go, ms));
const range = ({ low, high }) => (typeof low === "number" ? `[${figure(low, 3)}, ${figure(high, 3)}]` : "");

/** The page of tuning: waits for the index, then builds what follows the settings. */
export async function startTuning(place, data, run) {
  if (data.state === "missing") return;
  let facts = data;
  if (facts.state !== "ready") {
    const bar = make("progress", { max: 1, "aria-label": "Opening the index" });
    const words = make("p", { role: "status" });
    place.replaceChildren(make("section", { class: "state" }, make("h2", { textContent: "Opening the index" }), bar, words));
    const away = (error) => (words.textContent = error.message);
    for (;;) {
      try {
        facts = await persist(() => ask(apiPath(run, "tune/state")), away);
      } catch (error) {
        return void place.replaceChildren(problem(error, () => location.reload()));
      }
      if (facts.state === "ready") break;
      bar.value = facts.done / facts.total;
      words.textContent = `Loading ${Math.round((100 * facts.done) / facts.total)}%: ${facts.what}.`;
      await wait(POLL);
    }
  }
  tuningPage(place, facts, run);
}

/** Everything on the page once the tuner is there. */
function tuningPage(place, facts, run) {
  const names = facts.controls.map(({ name }) => name);
  know([...names, "system", "baseline"]);
  const usual = Object.fromEntries(facts.controls.map((one) => [one.name, String(one.usual)]));
  const client = Math.random().toString(36).slice(2);
  let number = 0;
  let stop = new AbortController();
  let timer = 0;

  /** The setting that the address says: of a system of the run, changed by what else stands there. */
  function setting() {
    const now = params();
    const start = facts.systems[now.get("system") ?? ""] ?? {};
    return Object.fromEntries(names.map((name) => [name, now.get(name) ?? start[name] ?? usual[name]]));
  }
  const baseline = () => params().get("baseline") ?? facts.best;
  const query = (more = {}) => new URLSearchParams({ ...setting(), ...more });

  const controls = facts.controls.map((one) => control(one, (value) => change({ [one.name]: value }, { replace: true })));
  const start = choice("Start from", [["", "–"], ...Object.keys(facts.systems).map((one) => [one, one])], (value) => change({ ...Object.fromEntries(names.map((name) => [name, null])), system: value || null }));
  const beside = choice("Baseline", facts.baselines.map((one) => [one, one]), (value) => change({ baseline: value }));
  const busy = make("output", { class: "muted", "aria-live": "polite" });
  const means = make("div", { class: "means" });
  const curve = make("figure", { class: "curve" });
  const verdict = make("div", { class: "verdict" });
  const kinds = make("div");
  const against = make("div");
  const bar = make("form", { class: "tuning tools", onsubmit: (event) => event.preventDefault() }, start.box, ...controls.map(({ box }) => box), beside.box);
  const acts = make("p", { class: "acts" }, copyButton("Copy link", () => location.href), make("button", { type: "button", class: "quietly", textContent: "Back to the usual setting", onclick: () => change(Object.fromEntries([...names, "system"].map((name) => [name, null]))) }), busy);
  const yaml = yamlBox(run, query, setting);
  const search = searchBox(run, setting);
  const section = (id, title, ...parts) => make("section", { id, class: "tuned" }, make("h2", { textContent: title }), ...parts);
  place.replaceChildren(
    make("section", { id: "settings" }, make("p", { class: "lead", textContent: `${facts.questions.toLocaleString("en")} questions over ${facts.chunks.toLocaleString("en")} chunks. Nothing is written until you say so.` }), bar, acts),
    make("div", { class: "columns" },
      make("div", {}, section("means", "Means", means), section("kinds", "By kind", kinds)),
      make("div", {}, section("curve", "Over alpha", curve, verdict))),
    section("against", "Won and lost", against),
    section("search", "Search", search),
    section("yaml", "Write to karat.yaml", yaml.box),
  );

  let first = null;
  let second = null;

  /** Means at once; intervals and the curve when the settings rest. A request that was overtaken is dropped. */
  async function follow() {
    const now = setting();
    controls.forEach((one) => one.sync(now));
    start.select.value = params().get("system") ?? "";
    beside.select.value = baseline();
    stop.abort();
    clearTimeout(timer);
    const mine = (stop = new AbortController());
    const seq = ++number;
    const sent = { page: client, seq };
    place.setAttribute("aria-busy", "true");
    yaml.forget();
    try {
      const reply = await persist(() => ask(apiPath(run, "tune", query({ baseline: baseline() ?? "", ...sent })), { signal: mine.signal }), (error) => (busy.textContent = error.message), mine.signal);
      [first, second] = [reply, null];
      busy.textContent = "";
      showMeans();
      against.replaceChildren(...wonAndLost(reply, run));
      curve.classList.add("old");
      await new Promise((go) => (timer = setTimeout(go, SLIDER_REST)));
      if (mine.signal.aborted) return;
      second = await ask(apiPath(run, "tune/curve", query(sent)), { signal: mine.signal });
      if (mine.signal.aborted) return;
      showMeans();
      curve.classList.remove("old");
      refill(curve, alphaCurve(second, (alpha) => change({ alpha: String(alpha), fusion: "weighted" })), make("figcaption", { textContent: `${second.main} with 95% interval` }));
      verdict.replaceChildren(...decision(second));
      place.removeAttribute("aria-busy");
    } catch (error) {
      if (mine.signal.aborted || (error.status === 409 && seq !== number)) return;
      place.removeAttribute("aria-busy");
      means.replaceChildren(problem(error, follow));
    }
  }

  function showMeans() {
    const interval = new Map((second?.measures ?? []).map((one) => [one.name, one]));
    means.replaceChildren(table(["measure", first.name, first.baseline ?? "", ""], first.measures.map((one) => row(`${one.name} (${one.n})`, one, interval.get(one.name))), "Means of the setting"));
    const of = new Map((second?.kinds ?? []).map((one) => [one.name, one]));
    kinds.replaceChildren(first.kinds.length ? table(["kind", first.main, first.baseline ?? "", ""], first.kinds.map((one) => row(`${one.kind} (${one.n})`, one, of.get(one.kind))), "Means by kind") : notice("The questions have no kinds."));
  }

  listen(follow);
  follow();
}

/** A slider with a number beside it, or a choice. */
function control(one, changed) {
  const title = CONTROL_TITLES[one.name] ?? one.name;
  const idle = (now) => Boolean(one.of && one.of !== now.fusion);
  if (one.values) {
    const made = choice(title, one.values.map((value) => [String(value), String(value)]), changed);
    return { box: made.box, sync: (now) => (([...made.select.options].some((option) => option.value === now[one.name]) || made.select.append(make("option", { value: now[one.name], textContent: now[one.name] }))), (made.select.value = now[one.name]), (made.select.disabled = idle(now))) };
  }
  const slider = make("input", { type: "range", min: one.low, max: one.high, step: one.step, "aria-label": title, oninput: () => changed(slider.value) });
  const exact = make("input", { type: "number", class: "short", min: one.low, max: one.name === "rrf_k" ? 1000 : one.high, step: "any", "aria-label": `${title}, as a number`, onchange: () => exact.checkValidity() && exact.value !== "" && changed(exact.value) });
  const box = make("div", { class: "slider", role: "group", "aria-label": title }, make("span", { textContent: title }), slider, exact);
  const sync = (now) => {
    slider.value = now[one.name];
    if (document.activeElement !== exact) exact.value = now[one.name];
    slider.disabled = exact.disabled = idle(now);
    box.classList.toggle("idle", idle(now));
  };
  return { box, sync };
}

function table(titles, rows, caption) {
  const head = make("thead", {}, make("tr", {}, ...titles.map((title, i) => make("th", { scope: "col", class: i ? "n" : "", dir: "auto" }, make("span", {}, ...breakable(title || "\u00a0"))))));
  return make("div", { class: "scroll" }, make("table", { "aria-label": caption }, head, make("tbody", {}, ...rows)));
}

/** A name with its mean, its interval once that is known, the baseline, and how far that is where both have a value. */
function row(name, one, interval) {
  return make("tr", { "data-name": one.name ?? one.kind },
    make("th", { scope: "row", dir: "auto", textContent: name }),
    make("td", { class: "n mean" }, figure(one.mean, 4), make("small", { textContent: (interval && range(interval)) || "\u00a0" })),
    make("td", { class: "n" }, figure(one.baseline, 4), one.baseline_n !== null && one.baseline_n !== one.n ? make("small", { textContent: `n ${one.baseline_n}` }) : null),
    make("td", { class: "n muted", textContent: typeof one.difference === "number" ? signed(one.difference) : "" }));
}

/** What is known of the choice: how flat the plateau is, and what choosing here adds. */
function decision({ choice: found, main }) {
  if (!found) return [notice(`No question has a value of ${main}.`)];
  const [low, high] = [found.plateau[0], found.plateau.at(-1)];
  const flat = found.flat
    ? "Flat: no setting shown here is significantly worse than the best, so these questions do not decide between them."
    : `${found.plateau.length} of ${found.of} settings do not differ significantly from the best, ${found.best}${found.plateau.length ? `: alpha ${figure(low, 2)} to ${figure(high, 2)}` : ""}.`;
  const bias = typeof found.optimism === "number"
    ? `Selection bias of choosing on these questions about ${figure(found.optimism, 3)}: expect about ${figure(found.expected, 3)} ${range({ low: found.expected_low, high: found.expected_high })} on new questions.`
    : "Too few questions to tell the selection bias of choosing here.";
  const more = make("details", {}, make("summary", { textContent: "The choice in words" }), make("ul", {}, ...found.sentences.map((one) => make("li", { textContent: one }))));
  return [make("p", { class: found.flat ? "flat" : "", textContent: flat }), make("p", { textContent: bias }), more];
}

/** The questions that the setting wins and loses. */
function wonAndLost(reply, run) {
  const found = reply.against;
  if (!found) return [notice(reply.baseline ? `${reply.baseline} has no ${reply.main}: choose another cut-off or baseline.` : "Choose a baseline.")];
  const same = found.n - found.won - found.lost;
  const lead = make("p", { class: "lead counts" }, make("b", { class: "good", textContent: `${found.won} won` }), ", ", make("b", { class: "bad", textContent: `${found.lost} lost` }), `, ${same} equal, by ${reply.main} against ${reply.baseline}.`);
  const link = (one) => `/run/${encodeURIComponent(run)}/question?${new URLSearchParams([["id", one.id], ["system", reply.baseline]])}`;
  const item = (one) => make("li", {}, make("a", { href: link(one), dir: "auto", textContent: `${brief(one.id)}: ${one.text}` }), make("small", { textContent: ` ${figure(one.baseline, 2)} → ${figure(one.value, 2)}` }));
  const list = (title, all, many) => {
    const box = make("div", {}, make("h3", { textContent: title }));
    if (!all.length) box.append(make("p", { class: "muted", textContent: "none" }));
    box.append(make("ul", {}, ...all.slice(0, SHOWN).map(item)));
    if (all.length > SHOWN) box.append(make("details", {}, make("summary", { textContent: `${all.length - SHOWN} more${many > all.length ? ` of ${many - SHOWN}` : ""}` }), make("ul", {}, ...all.slice(SHOWN).map(item))));
    return box;
  };
  const all = make("a", { class: "button", href: `/run/${encodeURIComponent(run)}/questions?${new URLSearchParams([["system", reply.baseline]])}`, textContent: `All questions of ${reply.baseline}` });
  return [lead, make("div", { class: "columns" }, list("Won", found.won_questions, found.won), list("Lost", found.lost_questions, found.lost)), make("p", {}, all)];
}

/** Any query through every engine, side by side. */
function searchBox(run, setting) {
  const lists = make("div", { class: "found", "aria-live": "polite" });
  const typed = line("Query", () => {}, { placeholder: "any question", class: "wide", maxLength: 2000 });
  let stop = new AbortController();
  async function go(event) {
    event.preventDefault();
    if (!typed.input.value.trim()) return;
    stop.abort();
    const mine = (stop = new AbortController());
    lists.replaceChildren(notice("Searching …"));
    try {
      const reply = await ask(apiPath(run, "search"), { body: { query: typed.input.value, k: 10, settings: setting() }, signal: mine.signal });
      const terms = termsOf(reply.query);
      const notes = reply.notes.map((one) => make("p", { class: "muted", textContent: one }));
      const lead = reply.question ? make("p", {}, "This is question ", make("a", { href: `/run/${encodeURIComponent(run)}/question?${new URLSearchParams({ id: reply.question })}`, textContent: reply.question }), "; its gold is marked ★.") : null;
      lists.replaceChildren(...[lead, ...notes].filter(Boolean), make("div", { class: "lists" }, ...reply.lists.map((one) => engineHits(one, terms))));
    } catch (error) {
      if (!mine.signal.aborted) lists.replaceChildren(problem(error));
    }
  }
  const form = make("form", { class: "tools", role: "search", onsubmit: go }, typed.box, make("button", { type: "submit", textContent: "Search" }));
  return make("div", {}, form, lists);
}

function engineHits({ name, hits }, terms) {
  const item = (hit) => {
    const parts = hit.parts.map((part) => `${part.engine} ${part.rank ? `#${part.rank}` : "–"} gives ${figure(part.share, 3)}`);
    const made = hit.made_of.map(([term, weight]) => `${term} ${figure(weight, 2)}`);
    const why = [...parts, ...made].join(" · ");
    return make("li", { class: hit.gold ? "gold" : "" }, make("b", { dir: "auto", textContent: `${hit.gold ? "★ " : ""}${hit.id}` }), make("small", { textContent: ` ${figure(hit.score, 3)}` }), make("p", { dir: "auto" }, ...marked(hit.text, terms)), why ? make("p", { class: "muted made", textContent: why }) : null);
  };
  const box = make("div", {}, make("h3", { textContent: NOTE[name] ? `${name} (${NOTE[name]})` : name }), make("ol", {}, ...hits.map(item)));
  if (!hits.length) box.append(notice("Nothing was found."));
  return box;
}

/** What would be written where, and the button that does it. */
function yamlBox(run, query, setting) {
  const name = line("Name of the system", () => {}, { type: "text", maxLength: 80 });
  const shown = make("div", { "aria-live": "polite" });
  const box = make("div", {});
  const look = make("button", { type: "button", textContent: "Show what would be written", onclick: () => preview() });
  box.append(make("div", { class: "tools" }, name.box, look), shown);

  async function preview() {
    try {
      const reply = await ask(apiPath(run, "yaml", query({ name: name.input.value.trim() })));
      if (!name.input.value.trim()) name.input.value = reply.name;
      const text = reply.lines.map((one, i) => `  ${i ? "  " : "- "}${one}`).join("\n");
      const write = make("button", { type: "button", class: "main", textContent: "Write it", onclick: () => add(reply) });
      shown.replaceChildren(make("p", {}, "To ", make("code", { textContent: reply.file })), make("pre", { textContent: text }), make("p", { class: "acts" }, reply.error ? null : write, copyButton("Copy the lines", () => `${text}\n`)));
      if (reply.error) shown.append(make("div", { class: "state problem", role: "alert" }, make("p", { textContent: reply.error }), make("p", { textContent: reply.remedy ?? "" })));
    } catch (error) {
      shown.replaceChildren(problem(error));
    }
  }

  async function add(seen) {
    try {
      const reply = await ask(apiPath(run, "yaml"), { body: { name: seen.name, mark: seen.mark, settings: setting() } });
      shown.replaceChildren(make("p", { class: "done", role: "status", textContent: `Added ${reply.name} to ${reply.file}. Run it with karat run.` }));
    } catch (error) {
      shown.replaceChildren(problem(error, preview));
    }
  }
  return { box, forget: () => shown.replaceChildren() };
}
