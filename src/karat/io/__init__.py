"""Opening things, once for everybody: what fields may be called and what a page number means."""
