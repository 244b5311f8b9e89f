"""scenario: a practical situation in which the fragment helps."""

from karat.testset._kind import Kind

kind = Kind(
    "scenario",
    "a practical situation in which the fragment helps",
    "Put a reader into a practical situation, in one or two sentences, and ask what they should do or know in it. "
    "What the fragment states decides the answer. Describe the situation in the reader's words, not the fragment's.",
)
