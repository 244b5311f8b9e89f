"""Rankings in, one ranking out. One way of fusing a file."""
