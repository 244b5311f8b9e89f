"""Trackers: where runs are sent, one a file."""
