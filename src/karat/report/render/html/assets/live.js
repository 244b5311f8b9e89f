// Live: how far a running run is, asked each second, less often while nothing answers or nobody looks.

import { apiPath, ask } from "./api.js";
import { make } from "./dom.js";

const EVERY = 1000;
const SELDOM = 30_000;

/** Calls `ask_` each second until it returns false; errors make the next attempts rarer. */
export function poll(attempt) {
  let wait = EVERY;
  const turn = async () => {
    if (!document.hidden) {
      try {
        if ((await attempt()) === false) return;
        wait = EVERY;
      } catch {
        wait = Math.min(wait * 2, SELDOM);
      }
    }
    setTimeout(turn, wait);
  };
  setTimeout(turn, wait);
}

/** A run's progress in words. */
export function progressText({ what, done, total, seconds_left: left }) {
  const share = total ? `${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : "";
  return [what, share, typeof left === "number" ? `about ${duration(left)} left` : ""].filter(Boolean).join(" · ");
}

function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** A bar with how far a run is. */
export function progressBar(progress) {
  const box = make("div", { class: "progress" });
  if (progress?.total) box.append(make("progress", { max: progress.total, value: progress.done, "aria-label": "Progress of the run" }));
  box.append(make("span", { textContent: progress ? progressText(progress) : "running" }));
  return box;
}

/** Shows the progress of a running run in `place`; `grown` is called when it has more rows, `ended` when it is done. */
export function watchRun(run, place, { grown = () => {}, ended = () => {} }) {
  let rows = null;
  place.replaceChildren(progressBar(null));
  poll(async () => {
    const found = await ask(apiPath(run, "progress"));
    if (found.state !== "running") {
      place.replaceChildren(make("p", { class: "lead" }, `This run is ${found.state}. `, make("a", { href: location.href, textContent: "Show all of it" })));
      ended(found);
      return false;
    }
    place.replaceChildren(progressBar(found.total ? found : null));
    if (found.rows !== rows && (rows !== null || found.rows)) grown(found);
    rows = found.rows;
    return true;
  });
}
