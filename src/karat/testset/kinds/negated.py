"""negated: asks for what is not so, not allowed or left out."""

from karat.testset._kind import Kind

kind = Kind(
    "negated",
    "asks for what is not so, not allowed or left out",
    "Write one question that turns on a negation: what is not allowed, not included, who is exempt, when something "
    "does not hold, which one is the exception. Its answer is stated in the fragment, and would be another without the "
    "negation.",
    adversarial=True,
)
