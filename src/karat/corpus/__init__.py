"""Documents in, chunks out: one reader a file, one way of cutting a file."""
