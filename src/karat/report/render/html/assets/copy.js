// Copy: a question as Markdown, a link to what is shown.

import { figure, make, visible } from "./dom.js";
import { scoreLine } from "./hits.js";

const LONGEST = 600; // characters of a hit in Markdown

/** Puts a text into the clipboard and says so on the button; where the browser forbids that, shows it to be copied. */
export async function copyText(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    showText(text);
    return;
  }
  const before = button.textContent;
  button.textContent = "Copied ✓";
  setTimeout(() => (button.textContent = before), 1500);
}

function showText(text) {
  const area = make("textarea", { readOnly: true, rows: 12, "aria-label": "Text to copy", value: text });
  const dialog = make("dialog", { class: "keys" }, make("p", { textContent: "Copy this text:" }), area);
  dialog.append(make("button", { type: "button", textContent: "Close", onclick: () => dialog.close() }));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  area.select();
}

/** A button that copies what `text` gives when it is pressed. */
export function copyButton(title, text) {
  const button = make("button", { type: "button", class: "quietly", textContent: title, onclick: () => copyText(button, text()) });
  return button;
}

/** A text on one line in which nothing is Markdown. */
const plain = (text) => visible(text ?? "").replace(/\s+/g, " ").trim().replace(/[\\`*_[\]<>|#~]/g, "\\$&");
const short = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/** A question with what each system found, in Markdown. */
export function asMarkdown(question, found, k) {
  const lines = [`## ${plain(question.id)}: ${plain(question.text)}`, ""];
  for (const { role, text } of question.history ?? []) lines.push(`> **${role}** ${plain(text)}`, "");
  if (question.kind) lines.push(`kind: ${plain(question.kind)}`, "");
  for (const answer of question.answers ?? []) lines.push(`**Reference:** ${plain(answer)}`, "");
  for (const [name, grade, quote] of question.gold ?? []) lines.push(`- gold: ${plain(name)}${grade === 1 ? "" : ` (grade ${figure(grade, 0)})`}${quote ? `: “${plain(quote)}”` : ""}`);
  for (const one of found) {
    lines.push("", `### ${plain(one.system)}`, "", plain(scoreLine(one.scores)));
    if (one.failure) lines.push("", `**✗ ${plain(one.failure.title)}.** ${plain(one.failure.detail)}`);
    if (one.answer?.text) lines.push("", `**Answer:** ${plain(one.answer.text)}`);
    if (one.hits?.length) lines.push("");
    for (const hit of (one.hits ?? []).filter((hit) => hit.rank <= Math.max(k, 5)))
      lines.push(`${hit.rank}. ${hit.holds.length ? "★ " : ""}${plain(hit.doc || hit.id)}${hit.page ? `, page ${plain(hit.page)}` : ""}: ${plain(short(hit.text ?? ""))}`);
  }
  return `${lines.join("\n").trim()}\n`;
}
