"""Outputs: the formats that `-o` writes, one a file."""
