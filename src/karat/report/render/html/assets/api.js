// The API: JSON of the server that the page came from, and its errors as people read them.

import { make } from "./dom.js";

/** What the server refused, in its words; `remedy` says what to do. */
export class Refusal extends Error {
  constructor(message, remedy = "", status = 0) {
    super(message);
    this.remedy = remedy;
    this.status = status;
  }

  /** Whether the server was not reached at all. */
  get isAway() {
    return this.status === 0;
  }
}

/** The address of an API path; parts that come from data are encoded. */
export function apiPath(run, part, query = "") {
  const text = query.toString();
  return `/api/run/${encodeURIComponent(run)}${part ? `/${part}` : ""}${text ? `?${text}` : ""}`;
}

/** The reply to a request, as an object. Throws a Refusal; an aborted request throws as fetch does. */
export async function ask(path, { signal, body } = {}) {
  const post = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let reply;
  try {
    reply = await fetch(path, { signal, credentials: "same-origin", headers: { Accept: "application/json" }, ...post });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("karat view does not answer.", "Is it still running? Start it again where it was stopped; this page goes on by itself.");
  }
  const found = await reply.json().catch(() => null);
  if (reply.ok && found !== null) return found;
  throw new Refusal(found?.error ?? `The server answered with status ${reply.status}.`, found?.remedy ?? "", reply.status);
}

/** An error where its content would be, with a way to try again. */
export function problem(error, retry) {
  const box = make("div", { class: "state problem", role: "alert" }, make("p", {}, make("b", { textContent: error.message })));
  if (error.remedy) box.append(make("p", { textContent: error.remedy }));
  if (retry) box.append(make("button", { type: "button", onclick: retry, textContent: "Try again" }));
  return box;
}

/** What stands where nothing is, or nothing yet. */
export function notice(text, ...more) {
  return make("div", { class: "state", role: "status" }, make("p", { textContent: text }), ...more);
}

/** Does `attempt` until it is done, waiting longer each time the server is not reached; any other refusal is thrown. */
export async function persist(attempt, away, signal) {
  for (let wait = 1000; ; wait = Math.min(wait * 2, 15_000)) {
    try {
      return await attempt();
    } catch (error) {
      if (signal?.aborted || !error.isAway) throw error;
      away(error);
      await new Promise((go) => setTimeout(go, wait));
      if (signal?.aborted) throw new DOMException("no longer wanted", "AbortError");
    }
  }
}
