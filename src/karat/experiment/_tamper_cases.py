"""Cases of the tamper test: questions about an invented place, so that no model knows the answers by heart."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A question with its contexts, an answer to be judged, and the measures by which that answer is bad.

    By every other judge measure it is good. `reference` is the right answer.
    """

    id: str
    question: str
    contexts: tuple[str, ...]
    answer: str
    reference: str
    low: frozenset[str] = frozenset()


WRONG = frozenset({"Faithfulness", "Correctness", "Relevance"})  # gives what was asked for, and it is false
EVASIVE = frozenset({"Correctness", "Responsiveness", "Relevance"})  # keeps to the contexts, past the question
UNFOUNDED = frozenset({"Faithfulness", "ContextRelevance"})  # right, and no context says so

_FERRY = (
    "The ferry from Oster Quay to Halmsund sails at 06:40, 11:15 and 17:30 on weekdays. On Sundays there is one "
    "crossing, at 12:00. The passage takes 55 minutes.",
    "Tickets for the Halmsund ferry are sold on board. A bicycle travels free of charge; a car costs 38 crowns.",
    "The Halmsund lighthouse was built of red granite in 1874 and is open to visitors from May to September.",
)
_LIBRARY = (
    "Readers of the Brevik library may borrow up to twelve books at a time. The loan period is four weeks and can be "
    "extended twice if nobody has reserved the book.",
    "A book returned late to the Brevik library costs 2 crowns for each day, at most 60 crowns for one book.",
    "The reading room of the Brevik library has 84 seats and opens at nine.",
)
_BRIDGE = (
    "The Tolven bridge was opened on 3 June 1962. It replaced a wooden crossing that the flood of 1959 had carried "
    "away.",
    "The Tolven bridge was designed by the engineer Marta Lindqvas and is 412 metres long.",
    "Anglers prize the lower Tolven for its grayling, which may be caught from July on.",
)
_BREAD = (
    "For Dalsk rye bread the dough rests for fourteen hours at room temperature before it goes into the oven.",
    "Dalsk rye bread is baked for seventy minutes at 210 degrees, without steam.",
    "The mill at Dalsk was turned into a museum when its last miller retired.",
)
_PUMP = (
    "The K-7 pump must be shut down if the oil temperature passes 92 degrees. The red lamp lights at 85 degrees.",
    "Change the oil of the K-7 pump every 600 hours of operation, with 4.5 litres of grade 46.",
    "The K-7 pump is delivered on a wooden pallet and weighs 310 kilograms.",
)
_MUSEUM = (
    "The Orrin museum is closed on Tuesdays. On the first Friday of the month it stays open until ten in the evening.",
    "Admission to the Orrin museum is 90 crowns; children under twelve pay nothing.",
    "The cafe beside the Orrin museum belongs to the town's rowing club.",
)
_BEES = (
    "Beekeepers of the Sunna valley move their hives to the heather in the second week of August.",
    "A hive in the Sunna valley yields about 23 kilograms of heather honey in a good year.",
    "The road into the Sunna valley is closed by snow from December to March.",
)
_COUNCIL = (
    "The council of Vester has 19 members, who are elected every five years. It chooses the mayor from among them.",
    "Elin Raud has been mayor of Vester since 2017; before that she headed the harbour office.",
    "Vester was granted its town charter in 1431.",
)
_ELSEWHERE = (
    "Glazed tiles should be cut wet, with a diamond blade and little pressure.",
    "The choir of Mollan rehearses on Thursdays in the gymnasium of the old school.",
    "Young spruce suffers from late frost, above all in hollows where cold air gathers.",
)
CASES = (
    Case(
        "ferry-good", "How long does the ferry from Oster Quay to Halmsund take?", _FERRY,
        "The crossing to Halmsund takes 55 minutes.", "The passage takes 55 minutes.",
    ),
    Case(
        "ferry-wrong", "How long does the ferry from Oster Quay to Halmsund take?", _FERRY,
        "The ferry to Halmsund needs two and a half hours.", "The passage takes 55 minutes.", WRONG,
    ),
    Case(
        "library-good", "How many books may a reader of the Brevik library borrow, and for how long?", _LIBRARY,
        "Up to twelve books at a time. The loan period is four weeks.",
        "A reader may borrow up to twelve books. The loan period is four weeks.",
    ),
    Case(
        "library-evasive", "How many books may a reader of the Brevik library borrow, and for how long?", _LIBRARY,
        "The reading room of the Brevik library has 84 seats. It opens at nine.",
        "A reader may borrow up to twelve books. The loan period is four weeks.", EVASIVE,
    ),
    Case(
        "bridge-good", "When was the Tolven bridge opened and who designed it?", _BRIDGE,
        "The Tolven bridge was opened on 3 June 1962. It was designed by Marta Lindqvas.",
        "It was opened on 3 June 1962. Marta Lindqvas designed it.",
    ),
    Case(
        "bridge-wrong", "When was the Tolven bridge opened and who designed it?", _BRIDGE,
        "The Tolven bridge was opened in the autumn of 1948. It was designed by the architect Jon Berrik.",
        "It was opened on 3 June 1962. Marta Lindqvas designed it.", WRONG,
    ),
    Case(
        "bread-good", "How long is Dalsk rye bread baked, and at what temperature?", _BREAD,
        "It is baked for seventy minutes at 210 degrees.", "It is baked for seventy minutes at 210 degrees.",
    ),
    Case(
        "bread-unfounded", "How long is Dalsk rye bread baked, and at what temperature?", _ELSEWHERE,
        "It is baked for seventy minutes at 210 degrees.", "It is baked for seventy minutes at 210 degrees.",
        UNFOUNDED,
    ),
    Case(
        "pump-good", "At what oil temperature must the K-7 pump be shut down?", _PUMP,
        "The K-7 pump must be shut down when the oil temperature passes 92 degrees.",
        "It must be shut down if the oil temperature passes 92 degrees.",
    ),
    Case(
        "pump-wrong", "At what oil temperature must the K-7 pump be shut down?", _PUMP,
        "The K-7 pump must be shut down only when the oil temperature passes 140 degrees.",
        "It must be shut down if the oil temperature passes 92 degrees.", WRONG,
    ),
    Case(
        "museum-good", "On which day is the Orrin museum closed?", _MUSEUM,
        "The Orrin museum is closed on Tuesdays.", "It is closed on Tuesdays.",
    ),
    Case(
        "museum-evasive", "On which day is the Orrin museum closed?", _MUSEUM,
        "Admission to the Orrin museum is 90 crowns. Children under twelve pay nothing.",
        "It is closed on Tuesdays.", EVASIVE,
    ),
    Case(
        "bees-good", "When do beekeepers of the Sunna valley move their hives to the heather?", _BEES,
        "They move the hives to the heather in the second week of August.", "In the second week of August.",
    ),
    Case(
        "bees-wrong", "When do beekeepers of the Sunna valley move their hives to the heather?", _BEES,
        "They move the hives to the heather in early May, before the swarms.", "In the second week of August.", WRONG,
    ),
    Case(
        "council-good", "How many members does the council of Vester have, and who chooses the mayor?", _COUNCIL,
        "The council of Vester has 19 members. The council chooses the mayor.",
        "The council has 19 members. It chooses the mayor.",
    ),
    Case(
        "council-unfounded", "How many members does the council of Vester have, and who chooses the mayor?", _ELSEWHERE,
        "The council of Vester has 19 members. The council chooses the mayor.",
        "The council has 19 members. It chooses the mayor.", UNFOUNDED,
    ),
)  # fmt: skip
