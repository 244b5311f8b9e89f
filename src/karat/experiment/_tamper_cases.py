"""Cases of the tamper test: questions about an invented place, so that no model knows the answers by heart."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class TamperCase:
    """A question with its contexts, an answer to be judged, and the measures by which that answer is bad.

    By every other judge measure it is good. `reference` is the right answer.
    """

    question: str
    contexts: tuple[str, ...]
    answer: str
    reference: str
    low: frozenset[str] = frozenset()


WRONG = frozenset({"Faithfulness", "Correctness", "Relevance", "CRAG"})  # gives what was asked for, and it is false
EVASIVE = frozenset({"Correctness", "Responsiveness", "Relevance", "CRAG"})  # keeps to the contexts, past the question
UNFOUNDED = frozenset({"Faithfulness", "ContextRelevance", "ContextSufficient"})  # right, and no context says so

_ELSEWHERE = (
    "Glazed tiles should be cut wet, with a diamond blade and little pressure.",
    "The choir of Mollan rehearses on Thursdays in the gymnasium of the old school.",
    "Young spruce suffers from late frost, above all in hollows where cold air gathers.",
)
_GOOD = (
    TamperCase(
        "How long does the ferry from Oster Quay to Halmsund take?",
        (
            "The ferry from Oster Quay to Halmsund sails at 06:40, 11:15 and 17:30 on weekdays. On Sundays there is "
            "one crossing, at 12:00. The passage takes 55 minutes.",
            "Tickets for the Halmsund ferry are sold on board. A bicycle travels free; a car costs 38 crowns.",
            "The Halmsund lighthouse was built of red granite in 1874 and is open to visitors from May to September.",
        ),
        "The crossing to Halmsund takes 55 minutes.",
        "The passage takes 55 minutes.",
    ),
    TamperCase(
        "How many books may a reader of the Brevik library borrow, and for how long?",
        (
            "Readers of the Brevik library may borrow up to twelve books at a time. The loan period is four weeks and "
            "can be extended twice if nobody has reserved the book.",
            "A book returned late to the Brevik library costs 2 crowns for each day, at most 60 crowns for one book.",
            "The reading room of the Brevik library has 84 seats and opens at nine.",
        ),
        "Up to twelve books at a time. The loan period is four weeks.",
        "A reader may borrow up to twelve books. The loan period is four weeks.",
    ),
    TamperCase(
        "When was the Tolven bridge opened and who designed it?",
        (
            "The Tolven bridge was opened on 3 June 1962. It replaced a wooden crossing that the flood of 1959 had "
            "carried away.",
            "The Tolven bridge was designed by the engineer Marta Lindqvas and is 412 metres long.",
            "Anglers prize the lower Tolven for its grayling, which may be caught from July on.",
        ),
        "The Tolven bridge was opened on 3 June 1962. It was designed by Marta Lindqvas.",
        "It was opened on 3 June 1962. Marta Lindqvas designed it.",
    ),
    TamperCase(
        "How long is Dalsk rye bread baked, and at what temperature?",
        (
            "For Dalsk rye bread the dough rests for fourteen hours at room temperature before it goes into the oven.",
            "Dalsk rye bread is baked for seventy minutes at 210 degrees, without steam.",
            "The mill at Dalsk was turned into a museum when its last miller retired.",
        ),
        "It is baked for seventy minutes at 210 degrees.",
        "It is baked for seventy minutes at 210 degrees.",
    ),
    TamperCase(
        "On which day is the Orrin museum closed?",
        (
            "The Orrin museum is closed on Tuesdays. On the first Friday of the month it stays open until ten.",
            "Admission to the Orrin museum is 90 crowns; children under twelve pay nothing.",
            "The cafe beside the Orrin museum belongs to the town's rowing club.",
        ),
        "The Orrin museum is closed on Tuesdays.",
        "It is closed on Tuesdays.",
    ),
    TamperCase(
        "How many members does the council of Vester have, and who chooses the mayor?",
        (
            "The council of Vester has 19 members, elected every five years. It chooses the mayor from among them.",
            "Elin Raud has been mayor of Vester since 2017; before that she headed the harbour office.",
            "Vester was granted its town charter in 1431.",
        ),
        "The council of Vester has 19 members. The council chooses the mayor.",
        "The council has 19 members. It chooses the mayor.",
    ),
)
_FERRY, _LIBRARY, _BRIDGE, _BREAD, _MUSEUM, _COUNCIL = _GOOD
CASES = (
    *_GOOD,
    replace(_FERRY, answer="The ferry to Halmsund needs two and a half hours.", low=WRONG),
    replace(_LIBRARY, answer="The reading room of the Brevik library has 84 seats. It opens at nine.", low=EVASIVE),
    replace(
        _BRIDGE,
        answer="The Tolven bridge was opened in the autumn of 1948. It was designed by the architect Jon Berrik.",
        low=WRONG,
    ),
    replace(_BREAD, contexts=_ELSEWHERE, low=UNFOUNDED),
    replace(
        _MUSEUM, answer="Admission to the Orrin museum is 90 crowns. Children under twelve pay nothing.", low=EVASIVE
    ),
    replace(_COUNCIL, contexts=_ELSEWHERE, low=UNFOUNDED),
)
