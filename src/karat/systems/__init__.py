"""Systems: everything that answers questions: an index with engines, a store, a function, an HTTP endpoint."""
