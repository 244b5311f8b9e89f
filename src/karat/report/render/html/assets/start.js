startTables();
const study = held("study-data");
startExplorer(study);
startAnswers(study);
startTheme(startCharts());
