import gc
import json
from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.core.errors import NoOverlapError, UsageError
from karat.core.types import Gold, Question, TestSet
from karat.experiment.sweep import sweep
from karat.experiment.sweep.grid import Grid
from karat.report import objects, tables
from karat.report.build.sweep import document
from karat.report.document import Detail
from karat.report.render import console
from karat.stats.intervals import mean_intervals
from karat.systems.system import System

PASSAGES = {
    "watch": "The night watch lasts four hours and is kept by two people.",
    "fuel": "Each tank holds 42,000 litres of fuel and is dipped every Monday.",
    "radio": "The radio room answers to the call name Lantern at all hours.",
    "power": "Three generators give electricity: Asta, Brun and Cille.",
    "water": "Snow is melted for drinking; a wash may take three minutes.",
    "hours": "Meals are served at fixed hours, and the night meal is cold.",
}
ASKED = {
    "How long is the night watch?": ("watch", "fact"),
    "Which engines make the electric power?": ("power", "paraphrase"),
    "What is the call name of the radio room?": ("radio", "fact"),
    "How often is the fuel checked?": ("fuel", "paraphrase"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    lines = [json.dumps({"id": name, "text": text}) for name, text in PASSAGES.items()]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    return folder


@pytest.fixture(scope="module")
def index(folder):
    return karat.index(folder / "corpus.jsonl", folder / "i", chunk="whole")


def questions(gold=lambda name: (Gold(chunk=name),)):
    return TestSet(
        [Question(f"q{i}", text, gold=gold(name), kind=kind) for i, (text, (name, kind)) in enumerate(ASKED.items())],
        name="made",
    )


def test_every_cell_is_the_score_of_its_system(index):
    swept = sweep(questions(), index, Grid.of(alpha="0,0.5,1", k="1,3", fusion="weighted,rrf"), measures="Hit@1")
    assert swept.scores.systems == ("bm25", "hybrid alpha=0.5", "dense", "rrf")
    assert [str(m) for m in swept.scores.measures] == ["Recall@1", "Recall@3", "Hit@1"]
    assert [c.alpha for c in swept.configurations] == [0.0, 0.5, 1.0, None]
    point = swept.parts[0].points[1]
    found = System(point.system, index).search(list(ASKED), swept.length).run("alone", swept.testset.ids)
    alone = karat.score(swept.testset, found, measures=["Recall@1", "Recall@3", "Hit@1"], index=index)
    assert swept.scores.values[1].T.tolist() == [
        [alone.evaluation.scores.value(0, q, m) for q in range(4)] for m in range(3)
    ]
    assert swept.run("hybrid alpha=0.5").doc_list == found.doc_list


def test_each_leg_is_searched_once_for_all_configurations(index, monkeypatch):
    asked = []
    for name in ("dense", "bm25"):
        kind = type(index.engine(name))

        def search(self, queries, depth=100, real=kind.search, name=name):
            asked.append((name, len(queries), depth))
            return real(self, queries, depth)

        monkeypatch.setattr(kind, "search", search)
    sweep(
        questions(), index, Grid.of(fusion="weighted,rrf,isr", normalise="minmax,zscore", depth="15,40", rrf_k="1:60")
    )
    assert sorted(asked) == [("bm25", 4, 40), ("dense", 4, 40)]


def test_the_whole_list_of_a_configuration_is_there_for_whoever_asks(index):
    swept = sweep(questions(), index, Grid.of(alpha="0.5", k="1"), measures="F1@1")
    assert swept.length == 1
    assert np.diff(swept.ranked("hybrid alpha=0.5").offsets).tolist() == [1] * 4
    assert np.diff(swept.ranked("hybrid alpha=0.5", whole=True).offsets).tolist() == [6] * 4
    with pytest.raises(UsageError, match=r"no configuration 'hybrid alpha=0.6'\. Did you mean hybrid alpha=0\.5"):
        swept.ranked("hybrid alpha=0.6")


@pytest.mark.parametrize(
    ("main", "cells", "name"),
    [
        (None, ["Recall@2", "Recall@4"], "Recall"),
        ("MRR", ["MRR@2", "MRR@4"], "MRR"),
        ("nDCG@3", ["nDCG@3"], "nDCG@3"),
        ("Recall@30t", ["Recall@30t"], "Recall@30t"),
        ("Precision(rel=2)", ["Precision(rel=2)@2", "Precision(rel=2)@4"], "Precision(rel=2)"),
        ("AllGold", ["AllGold"], "AllGold"),
    ],
)
def test_the_main_measure_is_compared_at_every_cut_off(index, main, cells, name):
    swept = sweep(questions(), index, Grid.of(alpha="0,1", k="2,4"), main=main)
    assert [str(m) for m in swept.cells] == cells
    assert swept.main == name


def test_a_budget_of_tokens_counts_whole_chunks(index):
    sizes = {c.id: c.tokens for c in index.chunks}
    budget = sizes["watch"]
    swept = sweep(questions(), index, Grid.of(alpha="0", k="1"), measures=f"Recall@{budget}t, Recall@{budget - 1}t")
    first = {str(m): swept.scores.values[0, 0, i] for i, m in enumerate(swept.scores.measures)}
    assert first[f"Recall@{budget}t"] == 1  # BM25 finds the watch first, and it fits
    assert first[f"Recall@{budget - 1}t"] == 0


def test_what_cannot_be_swept_is_refused(index, folder):
    grid = Grid.of(alpha="0.5", k="3")
    with pytest.raises(UsageError, match="holds no questions"):
        sweep(TestSet([], name="empty"), index, grid)
    with pytest.raises(UsageError, match=r"a grid has no 'alfa'\. Did you mean alpha"):
        sweep(questions(), index, {"alfa": 1})
    with pytest.raises(UsageError, match="holds no gold"):
        sweep(questions(lambda name: ()), index, grid)
    with pytest.raises(UsageError, match="question 'q0' has no text"):
        sweep({"q0": {"watch": 1}}, index, grid)
    with pytest.raises(UsageError, match="EM measures answers"):
        sweep(questions(), index, grid, measures="EM")
    with pytest.raises(UsageError, match="name one measure"):
        sweep(questions(), index, grid, main="F1@3,MRR")
    with pytest.raises(UsageError, match="lists must reach the largest cut-off, 3"):
        sweep(questions(), index, grid, measures="Hit@1", length=2)
    with pytest.raises(UsageError, match="no engine 'splade'"):
        sweep(questions(), index, Grid.of(legs="splade,bm25", alpha="0.5"))
    with pytest.raises(UsageError, match="give the documents"):
        sweep(questions(), index, Grid.of(chunk="whole"))
    with pytest.raises(UsageError, match="is an index"):
        sweep(questions(), folder / "i", Grid.of(chunk="whole"))


def test_gold_that_nobody_finds_is_an_error_and_never_a_grid_of_zeros(index):
    lost = questions(lambda name: (Gold(chunk="nowhere"),))
    with pytest.raises(NoOverlapError, match="of any of 2 configurations"):
        sweep(lost, index, Grid.of(alpha="0,1", k="3"))
    swept = sweep(lost, index, Grid.of(alpha="0,1", k="3"), matching={"allow_zero_overlap": True})
    assert swept.scores.values[:, :, 0].tolist() == [[0.0] * 4] * 2
    assert any("no chunk of the index holds 4 of 4 gold units" in note.text for note in swept.notes)


def test_a_cut_off_beyond_the_corpus_is_allowed_and_said(index):
    swept = sweep(questions(), index, Grid.of(alpha="0.5", k="3,50"), measures="F1@3")
    assert "k=50: the index has only 6 chunks." in [note.text for note in swept.notes]


def test_chunkings_and_embedders_are_indexed_once_and_compared_at_equal_budgets(folder, tmp_path, monkeypatch):
    grid = Grid.of(alpha="0,0.5", k="3", chunk="whole,sentences:1", embedder="wordllama")
    by_quote = questions(lambda name: (Gold(quote=" ".join(PASSAGES[name].split()[:4])),))
    swept = sweep(by_quote, folder / "corpus.jsonl", grid, work=tmp_path)
    assert swept.main == "Recall@800t"
    assert [c.settings.get("embedder") for c in swept.configurations] == [None, "wordllama"] * 2
    assert swept.scores.systems == tuple(
        f"{name} [{chunk}]" for chunk in ("whole", "sentences:1:0") for name in ("bm25", "hybrid alpha=0.5")
    )
    assert [c.settings["chunk"] for c in swept.configurations] == ["whole"] * 2 + ["sentences:1:0"] * 2
    monkeypatch.setattr("karat.systems.indexes.index", lambda *_, **__: pytest.fail("nothing changed"))
    again = sweep(by_quote, folder / "corpus.jsonl", grid, work=tmp_path)
    assert np.array_equal(again.scores.values, swept.scores.values)
    assert any(
        "larger chunks" in n.text
        for n in sweep(by_quote, folder / "corpus.jsonl", grid, main="F1", work=tmp_path).notes
    )


def test_documents_that_could_not_be_read_are_said(folder, tmp_path):
    documents = tmp_path / "docs"
    documents.mkdir()
    (documents / "corpus.jsonl").write_text((folder / "corpus.jsonl").read_text())
    (documents / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    swept = sweep(questions(), documents, Grid.of(alpha="0", k="3", chunk="whole"), work=tmp_path / "work")
    assert any("Could not be read or built: 1." in note.text and "broken.pdf" in note.text for note in swept.notes)


def test_an_embedder_changes_nothing_for_bm25(folder, tmp_path, monkeypatch):
    built = []
    real = karat.index

    def index(*args, **settings):
        built.append((settings["embedder"].label, settings["engines"]))
        return real(*args, **settings | {"embedder": "wordllama"})

    monkeypatch.setattr("karat.systems.indexes.index", index)
    grid = Grid.of(alpha="0,0.5,1", k="3", embedder="wordllama,other")
    swept = sweep(questions(), folder / "corpus.jsonl", grid, work=tmp_path)
    assert built == [("wordllama", ("bm25", "dense")), ("other", ("dense",))]
    assert swept.scores.systems == (
        "bm25", "hybrid alpha=0.5 [wordllama]", "dense [wordllama]", "hybrid alpha=0.5 [other]", "dense [other]"
    )  # fmt: skip
    assert np.array_equal(swept.scores.values[1:3], swept.scores.values[3:])  # the very same vectors here


def test_indexes_that_nobody_keeps_go_with_the_sweep(folder):
    swept = sweep(questions(), folder / "corpus.jsonl", Grid.of(alpha="0", k="3", chunk="whole"))
    place = swept.parts[0].index.path
    assert place.exists()
    assert swept.run("bm25").doc_list[0] == "watch"
    del swept
    gc.collect()
    assert not place.exists()


def test_the_best_is_never_shown_without_its_interval_and_its_equals(index):
    swept = sweep(questions(), index, Grid.of(alpha="0,0.5,1", k="1,3"))
    view = swept.view()
    text = " ".join(console.render(document(view), Detail.FULL).split())
    assert view.choices[0].sentences[0] in " ".join(console.render(document(view)).split())
    for choice, cut in zip(view.choices, (1, 3), strict=True):
        assert {cell.k for cell in choice.cells} == {cut}
        assert f"for the highest Recall@{cut} (" in choice.sentences[0]
        assert choice.sentences[0] in text
    assert "none of the 2 others differs significantly" in text
    assert "*" in text
    assert "=" in text
    held = json.loads(objects.sweep(view))
    assert [one["measure"] for one in held["choices"]] == ["Recall@1", "Recall@3"]
    for one in held["choices"]:
        assert one["best"]["low"] <= one["best"]["mean"] <= one["best"]["high"]
        assert len(one["equals"]) + len(one["beaten"]) == 2
        assert sum(cell["best"] for cell in one["cells"]) == 1
        assert {cell["system"] for cell in one["cells"]} == set(swept.scores.systems)
    rows = tables.sweep(view).splitlines()
    assert rows[0].startswith("system,chunk,embedder,engine,fusion,alpha")
    assert len(rows) == 7


def test_a_choice_is_among_configurations_at_one_cut_off(index):
    swept = sweep(questions(), index, Grid.of(alpha="0,0.5,1", k="2,5,10"))
    assert swept.choice().measure == "Recall@5"
    assert [cell.k for cell in swept.choice(k=2).cells] == [2, 2, 2]
    with pytest.raises(UsageError, match=r"no cut-off 3 .* 2, 5, 10"):
        swept.choice(k=3)


def test_a_sweep_is_saved_as_a_file_or_a_folder(index, tmp_path):
    swept = karat.sweep(questions(), index, {"alpha": "0,1", "k": 1})
    assert swept.save(tmp_path / "a.json") == [tmp_path / "a.json"]
    names = {path.name for path in swept.save(tmp_path / "out")}
    assert {"sweep.json", "sweep.csv", "sweep.txt", "rows.csv", "summary.csv"} <= names
    with pytest.raises(UsageError, match=r"cannot tell a format from 'a\.xyz'"):
        swept.save(tmp_path / "a.xyz")
    with pytest.raises(UsageError, match=r"has no slice 'kin'\. Did you mean kind"):
        swept.view(by="kin")


def test_a_sweep_asks_no_model(index):
    with pytest.raises(
        UsageError, match=r"hyde asks a chat model, and a sweep asks none. List such systems in karat.yaml"
    ):
        sweep([], index, {"rewrite": ["hyde"]})


def test_scoring_some_at_a_time_changes_nothing(index, monkeypatch):
    grid = Grid.of(alpha="0,0.3,0.5,1", k="1,3", fusion="weighted,rrf", depth="2,5")
    whole = sweep(questions(), index, grid)
    view, values = objects.sweep(whole.view()), whole.scores.values
    monkeypatch.setattr("karat.experiment.sweep._judge._BLOCK", 1)
    parts = sweep(questions(), index, grid)
    assert objects.sweep(parts.view()) == view
    assert np.array_equal(parts.scores.values, values, equal_nan=True)


def test_the_grid_alone_is_saved_where_there_are_too_many_scores(index, tmp_path, monkeypatch):
    held = "karat.experiment.sweep.swept.MOST_SCORES"
    monkeypatch.setattr(held, 100)
    monkeypatch.setattr("karat.experiment.sweep.MOST_SCORES", 100)
    swept = sweep(questions(), index, {"alpha": "0:1:0.1", "k": 1})
    assert swept.choice() is not None
    assert {path.name for path in swept.save(tmp_path / "out")} == {"sweep.json", "sweep.csv", "sweep.txt"}
    assert any("scores by all measures are too many" in note.text for note in swept.notes)
    with pytest.raises(UsageError, match=r"scores by all measures, more than the 100 that are held. Take larger steps"):
        swept.scores  # noqa: B018
    monkeypatch.setattr(held, 3)
    with pytest.raises(UsageError, match=r"scores by the main measure that differ, more than the 3"):
        sweep(questions(), index, {"alpha": "0:1:0.1", "k": 1})


def test_turns_of_conversations_are_resampled_together(index):
    turns = [replace(question, conversation=f"c{n // 2}", turn=1 + n % 2) for n, question in enumerate(questions())]
    swept = sweep(TestSet(turns, name="made"), index, Grid.of(alpha="0", k="1"), measures="Hit@1")
    assert swept.scores.conversations == (0, 0, 1, 1)
    text = "4 questions in 2 conversations: intervals and tests resample conversations."
    assert any(note.text.startswith(text) for note in swept.notes)
    best = swept.choice().best
    low, high = mean_intervals(swept.values[0].rows[:1], (0.0, 1.0), clusters=[0, 0, 1, 1])
    assert (best.low, best.high) == (low[0], high[0])
