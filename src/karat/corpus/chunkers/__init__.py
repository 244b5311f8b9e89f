"""Ways of chunking a document: one an entry."""
