// Charts: drawn one after another, so that the page answers meanwhile, and again when the colours change.

import { held, make } from "./dom.js";
import { isDark } from "./theme.js";

async function drawChart(box, spec, config, leads) {
  try {
    const { view } = await window.vegaEmbed(box, spec, {
      mode: "vega-lite",
      ast: true, // expressions are interpreted: the page's policy forbids to compile them
      config,
      renderer: "svg",
      tooltip: { theme: isDark() ? "dark" : "light" },
      actions: { export: true, source: false, compiled: false, editor: false },
      downloadFileName: box.dataset.chart,
    });
    if (leads) view.addEventListener("click", (event, item) => item?.datum && leads(item.datum));
  } catch (error) {
    box.replaceChildren(make("p", { class: "problem", textContent: `This chart cannot be drawn: ${error.message}` }));
  }
}

/** Starts drawing; what it returns draws all again. `leads` takes the datum of a mark that is pressed. */
export function startCharts(leads) {
  const charts = held("chart-data");
  if (!charts || !window.vegaEmbed) return () => {};
  const boxes = [...document.querySelectorAll("[data-chart]")];
  let round = 0;
  const drawAll = async () => {
    const mine = ++round;
    for (const [i, box] of boxes.entries()) {
      if (mine !== round) return;
      await drawChart(box, charts.specs[i], isDark() ? charts.dark : charts.light, leads);
      await new Promise((go) => setTimeout(go));
    }
  };
  drawAll();
  return drawAll;
}
