// Elements are made here and nowhere else: text goes in as text, never as markup.

const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\_-])/g; // what terminals take for commands
const UNSEEN = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]/gu;

/** A text without what nobody sees: controls and marks that turn the writing direction become spaces. */
export function visible(text) {
  return String(text).replace(/\r\n?/g, "\n").replace(SEQUENCE, "").replace(UNSEEN, " ");
}

const isEmpty = (child) => child === null || child === undefined || child === "";
const WORDS = new Set(["textContent", "title", "placeholder", "aria-label"]);

/** Children as an element takes them: texts freed of what nobody sees. */
function shown(children) {
  return children.filter((child) => !isEmpty(child)).map((child) => (child instanceof Node ? child : visible(child)));
}

/** An element: properties by name (`aria-*`, `data-*`, `class` and `for` as attributes), then children and texts. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, given] of Object.entries(properties)) {
    const value = WORDS.has(name) ? visible(given) : given;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (/^(aria-|data-|class$|for$|role$)/.test(name)) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...shown(children));
  return element;
}

/** An element of a drawing, by its attributes. */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...shown(children));
  return element;
}

/** A name that may break behind its signs, and only then within a word. */
export function breakable(name) {
  return name.split(/(?<=[_\-:@/=]|\.(?!\d))/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));
}

/** An id as lists show it: ids may be of any length. */
export const brief = (id) => (id.length > 80 ? `${id.slice(0, 80)}…` : id);

/** Puts other children in; what had the keys keeps them, by its `data-key`. */
export function refill(place, ...children) {
  const key = place.contains(document.activeElement) ? document.activeElement.getAttribute("data-key") : null;
  place.replaceChildren(...children);
  if (key !== null) place.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/** A labelled choice; `options` are [value, title] pairs. */
export function choice(title, options, changed) {
  const select = make("select", { onchange: () => changed(select.value) });
  select.append(...options.map(([value, name]) => make("option", { value, textContent: name })));
  return { box: make("label", {}, title, select), select };
}

/** A labelled line to type in. */
export function line(title, changed, properties = {}) {
  const input = make("input", { type: "search", autocomplete: "off", oninput: () => changed(input.value), ...properties });
  return { box: make("label", {}, title, input), input };
}

/** What a JSON block of the page holds, or null where there is none. */
export function held(id) {
  const block = document.getElementById(id);
  return block ? JSON.parse(block.textContent) : null;
}

/** An address of the web as a link that tells nobody where it was followed from; anything else as text. */
export function address(url) {
  if (!/^https?:\/\/\S+$/i.test(url)) return make("span", { textContent: url });
  return make("a", { href: url, rel: "noopener noreferrer", target: "_blank", textContent: url });
}

/** A number as the tables write it: no zero before the point. */
export function figure(value, digits = 4) {
  if (typeof value !== "number") return "–";
  const text = value.toFixed(digits);
  return (Number(text) ? text : text.replace("-", "")).replace(/^(-?)0\./, "$1.");
}

/** A difference, with its sign where it is not nothing. */
export function signed(value, digits = 3) {
  return `${Number(value.toFixed(digits)) > 0 ? "+" : ""}${figure(value, digits)}`;
}
