// Runs side by side: which run is the first, and which are compared at all, can be changed here.

import { figure, make } from "./dom.js";

const address = (ids) => `/compare?${new URLSearchParams(ids.map((id) => ["run", id]))}`;

/** Buttons over a comparison: another first run, one run less. */
export function startCompare(place, { runs = [] }) {
  const ids = runs.map(({ id }) => id);
  const item = ({ id, name, best, main, mean }, i) => {
    const box = make("li", {}, make("a", { href: `/run/${encodeURIComponent(id)}`, dir: "auto", textContent: name }), make("small", { textContent: ` ${id}` }));
    if (best) box.append(make("div", { class: "muted small", textContent: [best, main, typeof mean === "number" ? figure(mean, 3) : ""].filter(Boolean).join(" · ") }));
    const acts = make("div", { class: "acts" });
    if (i) acts.append(make("a", { href: address([id, ...ids.filter((other) => other !== id)]), textContent: "Make this the baseline" }));
    else acts.append(make("span", { class: "muted", textContent: "baseline" }));
    if (ids.length > 2) acts.append(make("a", { href: address(ids.filter((other) => other !== id)), textContent: "Leave out" }));
    box.append(acts);
    return box;
  };
  place.prepend(make("ul", { class: "compared", "aria-label": "Runs that are compared" }, ...runs.map(item)));
}
