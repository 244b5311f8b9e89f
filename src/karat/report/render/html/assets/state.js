// State: the filters of the questions stand in the address and nowhere else, so that back, forward and links work.

const KNOWN = new Set(["text", "kind", "system", "measure", "failure", "min", "max", "a", "b", "differ", "side", "labelled", "disagree", "status", "sort", "order", "open"]);
const VIEW = ["system", "measure", "sort", "order", "open"]; // what is shown and how, not which questions
const listeners = [];

const isKnown = (name) => KNOWN.has(name) || name.startsWith("tag.");

/** On this page the address says other things than filters. */
export function know(names) {
  KNOWN.clear();
  names.forEach((name) => KNOWN.add(name));
}

/** The parameters of the address that mean something here. */
export function params() {
  return new URLSearchParams([...new URLSearchParams(location.search)].filter(([name]) => isKnown(name)));
}

/** Those that mean nothing here. */
export function unknownParams() {
  return [...new URLSearchParams(location.search).keys()].filter((name) => !isKnown(name));
}

/** Those that the API takes: all but the question that is open. */
export function filters() {
  const found = params();
  found.delete("open");
  return found;
}

/** Those that narrow the list, as [name, value]. */
export function narrowing() {
  return [...filters()].filter(([name]) => !VIEW.includes(name));
}

/** Sets parameters: a text, several, or nothing; `replace` leaves no step to go back to. Listeners are told. */
export function change(values, { replace = false } = {}) {
  const next = params();
  for (const [name, value] of Object.entries(values)) {
    next.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) if (one !== null && one !== undefined && one !== "") next.append(name, one);
  }
  const text = next.toString();
  if (text === params().toString()) return;
  history[replace ? "replaceState" : "pushState"](null, "", text ? `?${text}` : location.pathname);
  tell();
}

/** Puts a value among those of a parameter, or takes it out. */
export function toggle(name, value) {
  const all = params().getAll(name);
  change({ [name]: all.includes(value) ? all.filter((one) => one !== value) : [...all, value] });
}

/** Calls `changed` whenever the address does, by a filter or by going back. */
export function listen(changed) {
  if (!listeners.length) addEventListener("popstate", tell);
  listeners.push(changed);
}

function tell() {
  listeners.forEach((changed) => changed());
}
