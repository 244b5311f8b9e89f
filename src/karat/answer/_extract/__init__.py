"""How `extractive` finds, in the contexts of a question, the sentences and the spans that answer it."""
