// Curve: a measure over alpha with its band, drawn; a point is pressed to take its setting.

import { draw, figure } from "./dom.js";

const W = 560;
const H = 300;
const LEFT = 44;
const RIGHT = 14;
const TOP = 14;
const BOTTOM = 40;

/** The drawing of a reply; `take` gets the alpha of a point that is pressed. */
export function alphaCurve({ curve, main, name }, take) {
  const known = curve.filter(({ mean }) => typeof mean === "number");
  const points = known.filter(({ alpha }) => alpha !== null);
  const lows = known.map((one) => one.low ?? one.mean);
  const highs = known.map((one) => one.high ?? one.mean);
  const [bottom, top] = rounded(Math.min(...lows), Math.max(...highs));
  const x = (alpha) => LEFT + alpha * (W - LEFT - RIGHT);
  const y = (value) => TOP + (1 - (value - bottom) / (top - bottom)) * (H - TOP - BOTTOM);
  const best = points.find((one) => one.best) ?? known.find((one) => one.best);
  const svg = draw("svg", { viewBox: `0 0 ${W} ${H}`, class: "alphas", role: "group", "aria-label": `${main} over alpha. Best: ${best?.name ?? "none"}. Set: ${name}.` });
  for (let i = 0; i <= 4; i++) {
    const value = bottom + (i * (top - bottom)) / 4;
    svg.append(draw("line", { class: "grid-line", x1: LEFT, x2: W - RIGHT, y1: y(value), y2: y(value) }), draw("text", { class: "tick", x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, figure(value, 2)));
  }
  for (const alpha of [0, 0.25, 0.5, 0.75, 1]) svg.append(draw("text", { class: "tick", x: x(alpha), y: H - BOTTOM + 18, "text-anchor": "middle" }, String(alpha)));
  svg.append(draw("text", { class: "tick", x: LEFT, y: H - 4 }, "words (bm25)"), draw("text", { class: "tick", x: W - RIGHT, y: H - 4, "text-anchor": "end" }, "meaning (dense)"));
  const edge = (list, end) => list.map((one) => `${x(one.alpha)},${y(one[end] ?? one.mean)}`);
  if (points.length > 1) {
    svg.append(draw("polygon", { class: "band", points: [...edge(points, "high"), ...edge(points, "low").reverse()].join(" ") }));
    svg.append(draw("polyline", { class: "way", points: edge(points, "mean").join(" ") }));
  }
  const other = known.find(({ chosen, alpha }) => chosen && alpha === null);
  if (other) svg.append(draw("line", { class: "other", x1: LEFT, x2: W - RIGHT, y1: y(other.mean), y2: y(other.mean) }), draw("text", { class: "tick", x: W - RIGHT, y: y(other.mean) - 6, "text-anchor": "end" }, `${other.name} ${figure(other.mean, 3)}`));
  for (const one of points) {
    const kind = one.best ? "best" : one.same ? "same" : "worse";
    const words = `alpha ${figure(one.alpha, 2)}: ${figure(one.mean, 3)}${typeof one.low === "number" ? ` [${figure(one.low, 3)}, ${figure(one.high, 3)}]` : ""}, ${BESIDE_BEST[kind]}`;
    const mark = draw("circle", { class: `point ${kind}${one.chosen ? " chosen" : ""}`, cx: x(one.alpha), cy: y(one.mean), r: one.chosen ? 7 : 4.5, role: "button", tabindex: one.chosen ? 0 : -1, "aria-label": words, "data-alpha": one.alpha, "data-key": one.alpha }, draw("title", {}, words));
    const step = (by) => [...svg.querySelectorAll(".point")].at(([...svg.querySelectorAll(".point")].indexOf(mark) + by) % points.length)?.focus();
    mark.addEventListener("click", () => take(one.alpha));
    mark.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") take(one.alpha);
      else if (event.key === "ArrowRight" || event.key === "ArrowLeft") step(event.key === "ArrowRight" ? 1 : -1);
      else return;
      event.preventDefault();
    });
    svg.append(mark);
  }
  if (!points.some((one) => one.chosen)) svg.querySelector(".point")?.setAttribute("tabindex", "0");
  return svg;
}

const BESIDE_BEST = { best: "the best", same: "not significantly different from the best", worse: "significantly worse than the best" };

/** Ends of an axis of four equal steps of round numbers, no shorter than .2, so that a flat curve does not look steep. */
function rounded(low, high) {
  const tens = 10 ** Math.floor(Math.log10(Math.max(0.2, high - low) / 4) + 1e-9);
  for (const step of [1, 2, 2.5, 5, 10, 20].map((one) => one * tens).filter((one) => one >= 0.05 - 1e-9)) {
    const top = Math.ceil(high / step - 1e-9) * step;
    const bottom = low >= 0 ? Math.max(0, top - 4 * step) : top - 4 * step;
    if (bottom <= low + 1e-9) return [bottom, bottom + 4 * step];
  }
  return [low, high];
}
