"""Checks of the doctor: one a file. See `karat.diagnose.gold`."""
