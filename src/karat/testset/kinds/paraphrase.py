"""paraphrase: the same need in other words than the fragment's."""

from karat.testset._kind import Kind

kind = Kind(
    "paraphrase",
    "the same need in other words than the fragment's",
    "Write one question about a fact of the fragment in other words than its own: say things by synonyms, descriptions "
    "and everyday words, as somebody would who knows what they need and not how it is written up. Keep only the names "
    "and numbers without which nobody could tell what is meant.",
)
