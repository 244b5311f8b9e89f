"""multi_hop: what one fragment says leads to the answer in the other."""

from karat.testset._kind import Kind

kind = Kind(
    "multi_hop",
    "what one fragment says leads to the answer in the other",
    "Write one question that takes two steps: a fact of one fragment says which person, thing, place or time is meant, "
    "and the other fragment says what is asked about it. Do not name what the first step finds. It cannot be answered "
    "from one fragment alone. Copy from each fragment the passage that its step needs.",
    pieces=2,
)
