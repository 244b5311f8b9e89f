"""Stores that something else made: one an entry."""
