"""Nothing small hangs: what reads text from outside takes time that grows with its length, whatever the text is."""

import contextlib
import signal
import time

import pytest

from karat.core.errors import InputError
from karat.core.text import (
    blocks,
    boilerplate,
    citations,
    detect,
    languages,
    layout,
    names,
    normalise,
    numbers,
    refusals,
    sentences,
    typography,
    words,
)
from karat.corpus import read
from karat.corpus.chunkers import tokens
from karat.diagnose.verify import names as headings
from karat.diagnose.verify import numbers as printed_numbers
from karat.files import read_raw_table
from karat.io import fields, pages
from karat.models import fences
from karat.testset import _reply
from karat.testset.check import not_a_question
from karat.testset.offline import _patterns

SIZE = 20_000
GUARD = 10  # seconds of work: a quadratic function takes minutes
TEXT_GUARD = GUARD / 4  # for one text of that size
PUMPS = (
    "a", " ", "\n", "\t ", ".", ". ", "1", "1.", "1,", "1 ", "a-", "-0", "_", "'", "\"", "«", "(", "[", "[1]",
    "[1] ", "![a](", "<", "<!--", "<!---->", "<think>", "</think>", "<source>", "|", "| ", "| a ", "# ", "> ",
    "* ", "a\n", "a 1\n", "....... 1\n", "1.1 a 1\n", "a, 1, 2\n", "http://a ", "&", "{", "`", "```\n", "~~~\n",
    "---\n", "a: ", "the ", "is ", "answer: ", "Dr. ", "U.S.", "я", "है ", "́", "😀", "0nd ", "10 May ",
    "question ", "because ", "and ", "no ", "контекст ", "\r", "\x00", "\u200d",
)  # fmt: skip

FUNCTIONS = {
    "drop_blocks": blocks.drop_blocks,
    "after_thoughts": blocks.after_thoughts,
    "navigation": boilerplate.navigation,
    "boilerplate": boilerplate.boilerplate,
    "causes": lambda text: words.causes({"q1": text, "q2": text + "1"}),
    "citations": citations.cited_sentences,
    "cited ids": lambda text: citations.cited_sentences(text, ["[", "a, b", "1", text[:50]]),
    "passage_reference": detect.passage_reference,
    "nonsense": detect.nonsense,
    "guess_language": languages.guess_language,
    "page_sentences": layout.page_sentences,
    "named_terms": names.named_terms,
    "normalise": lambda text: [normalise(text, norm) for norm in ("unicode", "squad", "hybrid-rag")],
    "figures": numbers.figures,
    "without_figures": numbers.without_figures,
    "declines": refusals.declines,
    "sentences": sentences,
    "typography": lambda text: typography.line_ends_filled(typography.without_typography(text)),
    "windows": lambda text: tokens.windows(text, 200, 40),
    "read_cell": printed_numbers.read_cell,
    "decimal commas": lambda text: printed_numbers.has_decimal_commas([text]),
    "split heading": lambda text: headings.split(text, 5),
    "measure heading": lambda text: headings.measure_of(text, 5),
    "field_name": fields.field_name,
    "page_of": pages.page_of,
    "harmless": fences.harmless,
    "clean reply": lambda text: _reply.clean(text[:2_000]),
    "leftovers": not_a_question.leftover_of,
    "malformed": not_a_question._ASKS.search,
    "not a question": not_a_question._MARKUP.search,
    "offline": lambda text: _patterns.questions_of(f"The hut is open. {text} is {text[:60]}.", "T", True),
}


class _TooLongError(Exception):
    pass


@pytest.fixture
def guard():
    def stop(number, frame):
        raise _TooLongError

    earlier = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, GUARD)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, earlier)


@pytest.mark.parametrize("pumps", [PUMPS[::2], pytest.param(PUMPS[1::2], marks=pytest.mark.slow)], ids=["even", "odd"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_text_of_one_thing_again_and_again_is_read_in_linear_time(guard, name, pumps):
    pump = ""
    try:
        for pump in pumps:
            signal.setitimer(signal.ITIMER_VIRTUAL, TEXT_GUARD)
            FUNCTIONS[name]("A" + pump * (SIZE // len(pump)) + "!")
    except _TooLongError:
        pytest.fail(f"{name} hangs on {pump!r} * {SIZE // len(pump)}")


@pytest.mark.parametrize("ending", ["md", "html", "txt", "csv", "jsonl"])
def test_a_document_of_one_thing_again_and_again_is_read_in_linear_time(guard, tmp_path, ending):
    for number, pump in enumerate(PUMPS):
        (tmp_path / f"{number:03}.{ending}").write_text("A" + pump * (8_000 // len(pump)) + "!", encoding="utf-8")
    signal.setitimer(signal.ITIMER_VIRTUAL, 2 * GUARD)
    with contextlib.suppress(InputError):  # lines that are no records
        read(tmp_path)


def test_a_page_of_comments_is_read_at_once(guard, tmp_path):
    path = tmp_path / "page.md"
    path.write_text("# A\n\n" + "<!---->" * 26 + "\n\nText of it.\n", encoding="utf-8")
    read(path)
    (tmp_path / "page.html").write_text("<!---->" * 2_000 + "<p>Text of it.</p>", encoding="utf-8")
    read(tmp_path / "page.html")


def test_a_header_of_thousands_of_columns_is_read_in_linear_time(guard, tmp_path):
    path = tmp_path / "wide.csv"
    columns = [f"c{n}" for n in range(50_000)]
    path.write_text(",".join(columns) + "\n" + ",".join("1" for _ in columns) + "\n", encoding="utf-8")
    assert len(read_raw_table(path).columns) == 50_000


def test_headings_that_name_no_measure_are_passed_over_quickly():
    begun = time.process_time()
    for number in range(500):
        headings.measure_of(f"column {number}", 5)
    assert time.process_time() - begun < GUARD / 4
