startTables();
startExplorer();
startTheme(startCharts());
