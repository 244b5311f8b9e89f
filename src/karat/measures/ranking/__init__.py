"""Measures of a ranking, one a file, over the sparse Judged."""
