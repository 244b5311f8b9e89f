"""The demo corpus as it is shipped: its size, its pages, its frozen questions and the way back to its sources."""

import copy
import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pypdfium2
import pytest

import karat
from karat.corpus import read
from karat.files import frozen_beside

ROOT = Path(__file__).parents[3]
DIGEST = "9249a3a89817acd006575d153efaf280de346c7db1def9710184a693b53d3d31"
NUMBER = 160


def script(name):
    """A script of the demo folder as a module."""
    spec = importlib.util.spec_from_file_location(f"demo_{name}", ROOT / "demo" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


checker = script("check_questions")
setter = script("make_handbook")
ROWS = checker.read()


def pages(path):
    """(label, text) of every page of a PDF."""
    with pypdfium2.PdfDocument(path) as pdf:
        return [(pdf.get_page_label(n), pdf[n].get_textpage().get_text_range()) for n in range(len(pdf))]


@pytest.fixture(scope="module")
def handbook():
    return pages(checker.DOCS / "handbook.pdf")


def test_the_questions_are_the_frozen_ones():
    testset = karat.load_testset(checker.QUESTIONS)
    assert (testset.digest, len(testset)) == (DIGEST, NUMBER)
    frozen = frozen_beside(checker.QUESTIONS)
    assert (frozen.digest, frozen.questions, frozen.version) == (DIGEST, NUMBER, "1")
    assert testset.version == "1"
    assert testset.slices == ("kind", "difficulty", "half", "answerable")


def test_it_is_small():
    assert sum(path.stat().st_size for path in checker.FOLDER.rglob("*") if path.is_file()) < 1_000_000


def test_nothing_is_wrong_with_the_questions():
    """Quotes on their page and nowhere else, no shared words in paraphrases and scenarios, ids, answers, halves."""
    assert checker.problems(ROWS) == []


def broken(change):
    rows = copy.deepcopy(ROWS)
    change({row["kind"]: row for row in rows})
    return checker.problems(rows)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda by: by["factual"]["gold"][0].update(page="9"), "not on ('handbook.pdf', '9')"),
        (lambda by: by["factual"]["gold"][0].update(page="900"), "no such place"),
        (lambda by: by["factual"]["gold"][0].update(quote="words that stand on no page at all"), "but on no page"),
        (lambda by: by["factual"]["gold"][0].update(quote="Orrinsund Station Operations Handbook"), "also on"),
        (lambda by: by["paraphrase"].update(question=by["paraphrase"]["gold"][0]["quote"]), "with its gold"),
        (lambda by: by["scenario"]["tags"].update(half="both"), "half both"),
        (lambda by: by["listing"].update(id=by["procedural"]["id"]), "repeated"),
        (lambda by: by["listing"].update(answers=[]), "0 answers"),
        (lambda by: by["unanswerable"].update(gold=by["listing"]["gold"]), "disagree"),
        (lambda by: by["numerical"].update(kind="riddle"), "unknown kind"),
    ],
)
def test_the_checker_sees(change, complaint):
    assert any(complaint in line for line in broken(change)), broken(change)


def test_kinds_and_halves():
    testset = karat.load_testset(checker.QUESTIONS)
    kinds = Counter(question.kind for question in testset)
    assert set(kinds) == set(checker.KINDS)
    assert min(kinds.values()) >= 10
    both = Counter((question.kind, question.tags["half"]) for question in testset)
    assert all(abs(both[kind, "dev"] - both[kind, "test"]) <= 1 for kind in kinds)
    assert {question.kind for question in testset if not question.answerable} == {"unanswerable"}


def test_most_gold_lies_in_the_pdf_and_every_document_holds_some():
    gold = Counter(gold["doc"] for row in ROWS for gold in row["gold"])
    assert 0.55 < gold["handbook.pdf"] / gold.total() < 0.70
    documents = {doc for doc, _ in checker.corpus()}
    assert documents == set(gold)
    assert len(documents) == 21


def test_the_reader_of_karat_finds_every_quote_too():
    texts = {doc.id: checker.plain(doc.text) for doc in read(checker.DOCS).docs}
    assert [g for row in ROWS for g in row["gold"] if g["quote"] not in texts[g["doc"]]] == []


def test_printed_labels_differ_from_physical_pages(handbook):
    labels = [label for label, _ in handbook]
    assert labels[:4] == ["Cover", "i", "ii", "iii"]
    assert labels[labels.index("1") :] == [str(n) for n in range(1, len(labels) - labels.index("1") + 1)]
    assert all(label != str(n) for n, label in enumerate(labels, 1))
    assert len(labels) >= 60


def test_every_page_has_the_running_header_and_prints_its_label(handbook):
    for label, text in handbook[1:]:
        assert text.startswith(f"{setter.RUNNING_HEADER}\r\n")
        assert text.split()[-1] == label


def test_no_word_is_split_at_a_line_end(handbook):
    assert not any(mark in text for _, text in handbook for mark in ("\ufffe", "\x02", "-\r\n"))


@pytest.mark.slow
def test_the_pdf_is_what_its_sources_give(handbook, tmp_path):
    first, second = (setter.build(tmp_path / name) for name in ("first.pdf", "second.pdf"))
    assert first.read_bytes() == second.read_bytes()
    assert pages(first) == handbook
