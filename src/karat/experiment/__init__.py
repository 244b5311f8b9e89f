"""The order of the walk: read, match, measure, summarise, report."""
