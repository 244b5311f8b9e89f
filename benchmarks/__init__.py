"""Claims about speed, each measured side by side with a real peer in one run."""
