"""What the scores amount to: summaries, intervals, bands, targets."""
