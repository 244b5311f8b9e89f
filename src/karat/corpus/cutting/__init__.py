"""Ways of cutting a document into chunks: one a file."""
