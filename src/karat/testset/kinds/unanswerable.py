"""unanswerable: sounds like the documents and is answered by none of them."""

from karat.testset._kind import Kind

kind = Kind(
    "unanswerable",
    "sounds like the documents and is answered by none of them",
    "Write one question that a reader of the fragment might well ask next, about the same people, things or rules, and "
    "that it does not answer: a detail, a reason, an amount or a case that is not stated. Nothing in it may be false, "
    "and other parts of the same documents should not be likely to answer it either.",
    answerable=False,
    adversarial=True,
)
