"""Generation, check and audit decide alike whether a question leaks, repeats another, and has a supported answer."""

from types import SimpleNamespace

import pytest

from karat.core.docs import Chunk, Chunks
from karat.core.means import Means
from karat.core.types import Question, TestSet
from karat.diagnose.checks.leaks import check as leaks
from karat.diagnose.checks.repeated_questions import check as repeated_questions
from karat.testset.audit import audit
from karat.testset.audit.checks.passage_references import check as passage_references
from karat.testset.filters._surroundings import Surroundings
from karat.testset.filters.duplicate import filter as duplicate
from karat.testset.filters.leakage import filter as leakage

LEANING = [
    "What does this passage say about fuel?",
    "According to the text, how much does a ticket cost?",
    "According to the text how much does a ticket cost?",
    "What is the main idea of the given excerpt?",
    "Which table below lists the prices?",
    "What is shown in the figure above?",
    "As mentioned earlier, who signs the form?",
    "What does the author recommend?",
    "Сколько стоит билет в этом отрывке?",
    "Согласно статье, кто подписывает накладную?",
    "Какие документы перечислены ниже?",
    "Laut dem Text, wer zahlt?",
]
STANDING = [
    "Which text editor is installed?",
    "Where does the passage below deck lead?",
    "What does the document on fire describe?",
    "Who is the author of the safety plan?",
    "Which pressure is given below 20 degrees?",
    "По тексту договора, кто платит?",
]


@pytest.mark.parametrize("text", [*LEANING, *STANDING])
def test_callers_agree_on_leaks(text):
    question = Question("q1", text)
    case = SimpleNamespace(questions=[question])
    draft = SimpleNamespace(text=text, answer=None)
    seen = [bool(list(leaks.find(case))), bool(list(passage_references.find(case))),
            leakage.find(draft, None, []) is not None]  # fmt: skip
    assert seen == [text in LEANING] * 3


REPEATING = [
    ("When does the ferry to Skarn leave?", "When does the ferry leave to Skarn?"),
    ("Who signs the fuel form of the station?", "Who signs the fuel forms of the station?"),
    ("Сколько стоит билет на паром до Скарна?", "Сколько стоит до Скарна билет на паром?"),
]
DIFFERENT = [
    ("When does the ferry to Skarn leave?", "Where does the ferry to Skarn leave?"),
    ("Who may enter the engine room at night?", "Who may not enter the engine room at night?"),
    ("What does error 404 of the server mean?", "What does error 500 of the server mean?"),
    ("Who cleans the filter of the pump?", "Who sells tickets for the ferry?"),
]


@pytest.mark.parametrize("pair", [*REPEATING, *DIFFERENT])
def test_callers_agree_on_repeated_questions(pair):
    questions = [Question(f"q{place}", text, answers=(str(place),)) for place, text in enumerate(pair)]
    chunks = Chunks([Chunk("c", "d", "Nothing of the kind.")])
    around = Surroundings(chunks, Means(), before=questions[:1])
    seen = [
        bool(list(repeated_questions.find(SimpleNamespace(questions=questions)))),
        "near_duplicates" in {finding.check for finding in audit(TestSet(questions), None).findings},
        duplicate.find(SimpleNamespace(text=pair[1], answer="1", fragments=()), around, []) is not None,
    ]
    assert seen == [pair in REPEATING] * 3
