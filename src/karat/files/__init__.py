"""Files: read and write test sets and results, one format a file."""
