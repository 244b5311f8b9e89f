"""false_premise: takes for granted what the fragment says is not so.

The right answer puts the premise right, and the fragment that does so is gold: the question is answerable, and its tag
`premise` is `false`.
"""

from karat.testset._kind import Kind

kind = Kind(
    "false_premise",
    "takes for granted what the fragment says is not so",
    "Write one question that takes for granted something the fragment contradicts: another amount, person, time, "
    "place or rule than the one it states. Let it sound as if the asker were sure. The answer says that this is not "
    "so and what holds instead. Copy the passage that contradicts the question.",
    adversarial=True,
    tags={"premise": "false"},
)
