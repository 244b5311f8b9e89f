"""paraphrased: worded so that a search by the fragment's own words fails."""

from karat.testset._kind import Kind

kind = Kind(
    "paraphrased",
    "worded so that a search by the fragment's own words fails",
    "Write one question about a fact of the fragment without any of its nouns, verbs and adjectives, so that a search "
    "by words finds nothing: describe people by what they do, things by what they are for, places by where they lie, "
    "and let even names go where a description is enough to tell what is meant.",
    adversarial=True,
)
