// The entry of report.html.

import { startCharts } from "./charts.js";
import { held } from "./dom.js";
import { startExplorer } from "./explorer.js";
import { startTables } from "./tables.js";
import { startTheme } from "./theme.js";
import { startAnswers } from "./worst.js";

startTables();
const study = held("study-data");
startExplorer(study);
startAnswers(study);
startTheme(startCharts());
