"""The embedders that karat knows by name: one a file, each with a function `embedder`."""
