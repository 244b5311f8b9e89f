"""Web: runs in the browser. A server on this machine that reads folders of runs and appends labels, behind one guard."""
