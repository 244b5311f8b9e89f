"""Make, audit, review and freeze test sets."""
