"""Generation and check decide alike whether a question leaks, repeats another, and has a supported answer."""

from types import SimpleNamespace

import pytest

from karat.core.answered import AnswerTable
from karat.core.docs import Chunk, Chunks
from karat.core.language import parse
from karat.core.models import Models
from karat.core.types import Gold, Question, TestSet
from karat.results.drafts import Draft, Fragment
from karat.testset.check import CheckContext, Surroundings
from karat.testset.check.passage_references import leakage, passage_references
from karat.testset.check.repeats import duplicate
from karat.testset.check.unsupported_answers import unsupported_answer
from karat.testset.check_testset import check_testset

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
    seen = [bool(list(passage_references.find(case))), leakage.find(draft, None, []) is not None]
    assert seen == [text in LEANING] * 2


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
    around = Surroundings(chunks, Models(), before=questions[:1])
    seen = [
        bool(check_testset(CheckContext(TestSet(questions)), only=["near_duplicates"]).findings),
        duplicate.find(SimpleNamespace(text=pair[1], answer="1", fragments=()), around, []) is not None,
    ]
    assert seen == [pair in REPEATING] * 2


GOLD = (
    "The pump delivers 40 litres per minute and must be off during thunderstorms. Ten people share it. "
    "The key hangs in the double-locked box."
)
SUPPORTED = [
    "40 litres per minute",
    "The pump delivers 40 litres.",
    "It must be off during thunderstorms.",
    "10 people share the pump.",
    "ten people",
    "in the double-locked box",
    "thunderstorms",
    "Thunderstorm: the pump must be off.",
    "Forty litres per minute",
    "Pumps deliver litres per minute.",
]
UNSUPPORTED = [
    "60 litres per minute",
    "The pump delivers 40 gallons per hour to distant gardens.",
    "It must be painted green.",
    "12 people share the pump.",
    "twelve people",
    "Earthquakes",
    "The pump was built in 1987.",
    "A wind turbine charges batteries.",
    "Bicycles travel free on weekdays.",
]


@pytest.mark.parametrize("answer", [*SUPPORTED, *UNSUPPORTED])
def test_callers_agree_on_support(answer):
    chunk = Chunk("c", "d", GOLD)
    question = Question("q1", "How?", answers=(answer,), gold=(Gold(id="c"),))
    chunks, testset = Chunks([chunk]), TestSet([question])
    draft = Draft(kind="paraphrase", text="How?", answer=answer, quotes=(GOLD,), fragments=(Fragment(0, chunk, "en"),))
    answered = AnswerTable(
        ("s",), ("q",), texts=[""], answers=[answer + " [1]"], references=[()], contexts=[(GOLD,)], answerable=[True]
    )
    claim = parse("Faithfulness(by=heuristic)").of(answered).details[0]["claims"][0]
    seen = [
        not check_testset(CheckContext(testset, chunks), only=["unsupported_answers"]).findings,
        unsupported_answer.find(draft, Surroundings(chunks, Models()), []) is None,
        claim["verdict"] == "supported",
        parse("CitationPrecision").of(answered).values[0] == 1,
    ]
    assert seen == [answer in SUPPORTED] * 4
