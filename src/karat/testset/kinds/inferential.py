"""inferential: the answer follows from what the fragment says and is not written there in so many words."""

from karat.testset._kind import Kind

kind = Kind(
    "inferential",
    "the answer follows from the fragment and is not written there in so many words",
    "Write one question whose answer is not written in the fragment in so many words and yet follows from it with "
    "certainty, by one step of thought: a sum or a comparison of its figures, a consequence of its rule, an order of "
    "its events. Copy as the quote what it follows from.",
)
