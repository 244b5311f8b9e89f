"""Every system behind one protocol: the same request to an index, a function and a results file gives runs."""

import json
from types import SimpleNamespace

import pytest

import karat
from karat.core.types import Question, TestSet
from karat.experiment.spec_systems import _JournaledRows
from karat.results.study import Configuration
from karat.systems.engines import Engines
from karat.systems.outside import CallSettings
from karat.systems.retrieval import Retrieval, batches_of
from karat.systems.settings import SystemSettings
from karat.systems.source import ResultsFile, RunRequest
from karat.systems.system import IndexSystem, System

QUESTIONS = TestSet([Question("1", "night watch"), Question("2", "fuel tank")], name="qa")
PASSAGES = {"watch": "The night watch lasts four hours.", "fuel": "Each tank holds fuel.", "radio": "Call Lantern."}


class Rows:
    """Rows that are kept in a dict."""

    def __init__(self, **known):
        self.rows, self.sentences = known, []

    def known(self, system):
        return self.rows

    def notes(self, system):
        return self.sentences

    def keep_notes(self, system, notes):
        self.sentences = notes

    def keep(self, system, row):
        self.rows[row["id"]] = {**row, "system": system}


def request(rows=None, align=lambda runs: (list(runs), [])):
    return RunRequest(
        testset=QUESTIONS, length=2, asked_k=1, pages="physical", columns=None, align=align, rows=rows or Rows(),
        max_failures=None, progress=lambda what, done, total: None,
    )  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    lines = [json.dumps({"id": name, "text": text}) for name, text in PASSAGES.items()]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    return karat.index(folder / "corpus.jsonl", folder / "i", chunk="whole")


def test_systems_over_one_index_return_what_each_finds_alone_and_read_a_chunk_once(index, monkeypatch):
    systems = [SystemSettings("bm25"), SystemSettings("dense"), SystemSettings(alpha=0.5), SystemSettings(fusion="rrf")]
    retrieval = Retrieval(Engines(index), [q.text for q in QUESTIONS], timed=True)
    retrieval.plan(systems, 2)
    read, chunk_at = [], type(index.chunks).__getitem__

    def counting(chunks, row):
        read.append(row)
        return chunk_at(chunks, row)

    for settings in systems:
        with monkeypatch.context() as patched:
            patched.setattr(type(index.chunks), "__getitem__", counting)
            (together,) = IndexSystem(settings, retrieval).runs(Configuration(settings.name, {}), request())
        (alone,) = System(settings, index).runs(Configuration(settings.name, {}), request())
        assert together.run.doc_list == alone.run.doc_list
        assert together.run.fields == alone.run.fields
        assert len(together.seconds) == 2
        assert (together.retrieved is None, alone.retrieved is None) == (False, True)
    assert sorted(read) == sorted(set(read))


def test_a_function_is_asked_only_what_is_not_known(tmp_path):
    (tmp_path / "mine.py").write_text("def search(q, k):\n    return [f'{q} {k}', 'below']\n")
    rows = Rows(**{"1": {"id": "1", "retrieved": [{"id": "old"}], "seconds": {"total": 2.0, "answer": 0.5}}})
    settings = CallSettings("mine:search", tmp_path)
    (returned,) = settings.runs(Configuration("mine", {}), request(rows))
    assert (returned.run.name, returned.run.doc_list) == ("mine", ["old", "fuel tank 1"])
    assert returned.seconds[0] == 1.5
    assert rows.rows["2"]["system"] == "mine"
    assert list(settings.reads()) == [tmp_path / "mine.py"]


def test_what_is_said_of_replies_is_said_when_no_question_is_asked_again(tmp_path):
    (tmp_path / "mine.py").write_text("def search(q, k):\n    return [{'file': 'a.pdf', 'page': 0}]\n")
    rows, settings = Rows(), CallSettings("mine:search", tmp_path)
    (first,), (again,) = (list(settings.runs(Configuration("mine", {}), request(rows))) for _ in range(2))
    assert first.notes
    assert again.notes == first.notes


def test_what_was_said_of_replies_that_all_failed_is_not_said_of_those_of_a_retry(tmp_path):
    """What a journal says of a system last is what holds of it: a retry of all of its questions says all anew."""
    (tmp_path / "mine.py").write_text("def search(q, k):\n    return [{'file': 'a.pdf', 'page': 0}]\n")
    records, settings = [], CallSettings("mine:search", tmp_path)
    rows = _JournaledRows(SimpleNamespace(records=records, add=records.extend, retry_errors=True))
    failed = [{"id": one.id, "status": "failed", "error": "no reply fits"} for one in QUESTIONS]
    records += [{"system": "mine", "row": row} for row in failed]
    rows.keep_notes("mine", ["no reply fits the paths"])
    (retried,), (again,) = (list(settings.runs(Configuration("mine", {}), request(rows))) for _ in range(2))
    assert [note.text for note in again.notes] == [note.text for note in retried.notes]
    assert not any("no reply" in note.text for note in again.notes)


def test_a_results_file_gives_each_of_its_systems_under_a_name_of_its_own(tmp_path):
    path = tmp_path / "both.jsonl"
    lines = [{"id": "1", "system": name, "retrieved": [f"{name}1"]} for name in ("a", "b")]
    path.write_text("\n".join(map(json.dumps, lines)))
    source, shown = ResultsFile(path), Configuration("theirs", {"results": "both.jsonl"})
    first, second = source.runs(shown, request(align=lambda runs: (list(runs), ["aligned"])))
    assert [one.configuration.name for one in (first, second)] == ["theirs a", "theirs b"]
    assert [one.run.name for one in (first, second)] == ["theirs a", "theirs b"]
    assert (first.notes, tuple(second.notes)) == (["aligned"], ())
    assert list(source.reads()) == [path]


@pytest.mark.parametrize(
    ("row", "seconds"),
    [
        ({"seconds": {"total": 3.0}}, [3.0]),
        ({"seconds": {"total": 3.0}, "answer": "yes"}, []),
        ({"seconds": 3.0, "answer": "yes"}, []),
        ({"seconds": {"total": 3.0, "answer": 1.0}, "answer": "yes"}, [2.0]),
    ],
)
def test_seconds_of_a_whole_question_that_was_answered_are_not_those_of_retrieval(tmp_path, row, seconds):
    path = tmp_path / "theirs.jsonl"
    path.write_text(json.dumps({"id": "1", "retrieved": ["a"], **row}))
    (returned,) = ResultsFile(path).runs(Configuration("theirs", {}), request())
    assert list(returned.seconds)[:1] == seconds


def test_a_function_that_answers_has_no_seconds_of_retrieval(tmp_path):
    (tmp_path / "both.py").write_text("def ask(q, k):\n    return {'retrieved': ['a'], 'answer': 'yes'}\n")
    (returned,) = CallSettings("both:ask", tmp_path).runs(Configuration("mine", {}), request())
    assert list(returned.seconds) == []


def test_many_questions_are_searched_in_batches_and_a_sample_alone(index, monkeypatch):
    monkeypatch.setattr("karat.systems.retrieval.TIMED", 3)
    monkeypatch.setattr("karat.systems.retrieval.BATCH", 4)
    assert batches_of(10) == [[0], [4], [9], [1, 2, 3, 5], [6, 7, 8]]
    assert batches_of(2) == [[0], [1]]
    texts = [
        f"{word} {QUESTIONS[n % 2].text}"
        for n, word in enumerate(["fuel", "tank", "watch", "radio", "room", "ice", "snow"])
    ]
    for settings in (SystemSettings("bm25"), SystemSettings("dense"), SystemSettings(alpha=0.5)):
        alone = [Retrieval(Engines(index), [text]).of(settings, 2).ranked for text in texts]
        together = Retrieval(Engines(index), texts, timed=True).of(settings, 2)
        assert [rows.tolist() for rows, _ in together.ranked] == [one.rows.tolist() for one in alone]
        assert [scores.tolist() for _, scores in together.ranked] == [one.scores.tolist() for one in alone]
        assert [n for n, spent in enumerate(together.total_seconds) if spent is not None] == [0, 3, 6]
