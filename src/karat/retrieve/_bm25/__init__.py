"""BM25's parts: the formulas, the index, its lexicon and the search."""
