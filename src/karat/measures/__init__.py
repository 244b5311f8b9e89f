"""Numbers from judged hits and answers: one measure a file, and dialects."""
