"""comparative: how two things differ, each told by a fragment of its own."""

from karat.testset._kind import Kind

kind = Kind(
    "comparative",
    "how two things differ, each told by a fragment of its own",
    "Write one question that compares something both fragments speak of: two amounts, times, rules, places or people. "
    "It cannot be answered from one fragment alone. Copy from each fragment the passage that gives its side.",
    pieces=2,
)
