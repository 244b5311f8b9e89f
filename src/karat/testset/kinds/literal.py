"""literal: asked straight from the fragment, in its own words."""

from karat.testset._kind import Kind

kind = Kind(
    "literal",
    "asked straight from the fragment, in its own words",
    "Write one question that somebody who needs a fact of the fragment would ask, in the words the fragment uses for "
    "it. The fact is stated there in so many words, and no other document is likely to hold it.",
)
