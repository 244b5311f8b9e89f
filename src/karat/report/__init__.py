"""An evaluation as people and programs read it: one renderer a file."""
