"""ambiguous: a question that two fragments answer differently, since it does not say which it means."""

from karat.testset._kind import Kind

kind = Kind(
    "ambiguous",
    "a question that two fragments answer differently, since it does not say which it means",
    "Write one short question, such as people type in a hurry, that leaves out what would tell the two fragments "
    "apart, so that each answers it in its own way. The answer names both readings and what holds for each. Copy from "
    "each fragment the passage that answers its reading.",
    pieces=2,
    adversarial=True,
    tags={"readings": "2"},
)
