// Elements are made here and nowhere else: text goes in as text, never as markup.

/** An element: properties by name (`aria-*`, `data-*`, `class` and `for` as attributes), then children and texts. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (/^(aria-|data-|class$|for$)/.test(name)) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/** A labelled choice; `options` are [value, title] pairs. */
function choice(title, options, changed) {
  const select = make("select", { onchange: () => changed(select.value) });
  select.append(...options.map(([value, name]) => make("option", { value, textContent: name })));
  return { box: make("label", {}, title, select), select };
}

/** A labelled line to type in. */
function line(title, changed, properties = {}) {
  const input = make("input", { type: "search", autocomplete: "off", oninput: () => changed(input.value), ...properties });
  return { box: make("label", {}, title, input), input };
}

/** What a JSON block of the page holds, or null where there is none. */
function held(id) {
  const block = document.getElementById(id);
  return block ? JSON.parse(block.textContent) : null;
}

/** An address of the web as a link that tells nobody where it was followed from; anything else as text. */
function address(url) {
  if (!/^https?:\/\/\S+$/i.test(url)) return make("span", { textContent: url });
  return make("a", { href: url, rel: "noopener noreferrer", target: "_blank", textContent: url });
}

/** A number as the tables write it: no zero before the point. */
function figure(value, digits = 4) {
  if (typeof value !== "number") return "–";
  const text = value.toFixed(digits);
  return text.replace(/^(-?)0\./, "$1.");
}
