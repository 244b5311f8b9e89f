"""Measures of the claims table: one a file."""
