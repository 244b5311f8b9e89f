"""Generation, check and audit decide alike whether a question leaks, repeats another, and has a supported answer."""

from types import SimpleNamespace

import pytest

from karat.core.types import Question
from karat.diagnose.checks.leaks import check as leaks
from karat.testset.audit.checks.passage_references import check as passage_references
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
