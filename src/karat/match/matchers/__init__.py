"""The matchers, one a file: a hit, or a chunk of an index, holds a gold unit by one of these rules."""
