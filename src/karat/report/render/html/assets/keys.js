// Keys: what each does on this page, and a list of them.

import { make } from "./dom.js";

const TYPES = "input, select, textarea, dialog, [contenteditable]";

/**
 * Binds keys: [keys, what they do, function]. Keys in a field that is typed in stay there, but for Escape; a function
 * that returns false leaves the key to the browser.
 */
export function bindKeys(bindings) {
  const dialog = helpDialog(bindings);
  const all = [...bindings, [["?"], "Show these keys", () => dialog.showModal()]];
  const known = new Map(all.flatMap(([keys, , act]) => keys.map((key) => [key, act])));
  document.body.append(dialog);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || dialog.open) return;
    const typing = event.target.closest?.(TYPES);
    if (typing && event.key !== "Escape") return;
    if (typing && event.key === "Escape") return void typing.blur();
    if (["Enter", " "].includes(event.key) && event.target.closest?.("a, button, summary")) return;
    const act = known.get(event.key);
    if (act && act(event) !== false) event.preventDefault();
  });
  return () => dialog.showModal();
}

function helpDialog(bindings) {
  const rows = [...bindings, [["?"], "Show these keys"]].map(([keys, what]) =>
    make("div", {}, make("dt", {}, ...keys.map((key) => make("kbd", { textContent: NAMES[key] ?? key }))), make("dd", { textContent: what })));
  const dialog = make("dialog", { class: "keys", "aria-label": "Keys" }, make("h2", { textContent: "Keys" }), make("dl", {}, ...rows));
  dialog.append(make("button", { type: "button", textContent: "Close", onclick: () => dialog.close() }));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  return dialog;
}

const NAMES = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc", PageDown: "Page ↓", PageUp: "Page ↑" };
