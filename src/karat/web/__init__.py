"""Web: runs in the browser. A server on this machine, behind one guard, that reads runs and appends labels."""
