"""Make, check and freeze test sets."""
