import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from many_shards import NUMBERS, PIECE, files_of, line, lines

import karat
from karat.core.errors import InputError
from karat.retrieve._bm25.lexicon import Lexicon
from karat.retrieve.rewriters.spell import Spell
from karat.systems import index_build, index_stages
from karat.systems.index import Index
from karat.systems.index_folder import PieceReuse


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(index_build, "PIECE_BYTES", PIECE)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("place")


@pytest.fixture
def corpus(place):
    """A file that a test may change: it stands at one place, since an index knows where its documents are."""
    path = place / "docs.jsonl"
    path.write_text(lines(NUMBERS))
    return path


@pytest.fixture(scope="module")
def sparse(place):
    """An index of many shards, of BM25 alone: built once, to be copied."""
    (place / "docs.jsonl").write_text(lines(NUMBERS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_build, "PIECE_BYTES", PIECE)
        karat.index(place / "docs.jsonl", place / "sparse.index", jobs=1, engines="bm25")
    return place / "sparse.index"


@pytest.fixture
def standing(tmp_path, sparse, corpus):
    """A copy of it at `i`."""
    shutil.copytree(sparse, tmp_path / "i")
    return Index.open(tmp_path / "i")


def counted(monkeypatch):
    """The sizes of the shards that each stage has done in this process."""
    done = {"read": [], "build": []}

    def counting(stage, name):
        run = stage.run

        def counted_run(self, shard, folder):
            rows = run(self, shard, folder)
            done[name].append(rows)
            return rows

        monkeypatch.setattr(stage, "run", counted_run)

    counting(index_stages.ReadAndChunk, "read")
    counting(index_stages.BuildShard, "build")
    return done


def rankings(index, engine, queries=("lantern harbour", "granite petrel item77", "item3 kettle signal")):
    ranked = index.engine(engine).search(list(queries), 50)
    return ranked.offsets, ranked.rows, ranked.scores


def test_many_shards_are_searched_as_one(tmp_path, corpus, monkeypatch):
    one = karat.index(corpus, tmp_path / "one")
    monkeypatch.setattr(index_build, "PIECE_BYTES", PIECE)
    many = karat.index(corpus, tmp_path / "many", jobs=1)
    assert (len(one.about["shards"]["chunks"]), len(many.about["shards"]["chunks"]) > 3) == (1, True)
    assert list(many.chunks) == list(one.chunks)
    assert list(many.docs) == list(one.docs)
    assert (list(many.chunks.ids), many.spell.counts) == (sorted(one.chunks.ids), one.spell.counts)
    assert {**many.about["corpus"]} == {**one.about["corpus"]}
    assert (many.about["taken"], many.problems) == (one.about["taken"], one.problems)
    assert many.about["settings"] == one.about["settings"]
    for mine, its in zip(rankings(many, "bm25"), rankings(one, "bm25"), strict=True):
        np.testing.assert_array_equal(mine, its)
    for mine, its in zip(rankings(many, "dense"), rankings(one, "dense"), strict=True):
        np.testing.assert_allclose(mine, its, atol=1e-6)
    opened = Index.open(tmp_path / "many", verify=True)
    assert opened.chunks[rankings(opened, "bm25", ["item77"])[1][0]].text.endswith("item77")


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_an_identical_build_does_nothing(tmp_path, corpus, monkeypatch):
    karat.index(corpus, tmp_path / "i", jobs=1)
    before, done = files_of(tmp_path / "i"), counted(monkeypatch)
    monkeypatch.setattr(index_build._EngineStage, "join", None)
    again = karat.index(corpus, tmp_path / "i", jobs=1)
    assert (files_of(tmp_path / "i"), done) == (before, {"read": [], "build": []})
    assert again.reuse.line == "everything: no document changed"


@pytest.mark.usefixtures("small")
@pytest.mark.slow
@pytest.mark.parametrize("change", ["change", "append", "insert", "remove"])
def test_what_changes_in_one_place_rebuilds_only_its_shards(tmp_path, corpus, standing, monkeypatch, change):
    engines = ("bm25", "dense") if change == "insert" else ("bm25",)
    if len(engines) > 1:
        karat.index(corpus, tmp_path / "i", jobs=1, engines=engines)
    pieces = len(standing.about["shards"]["chunks"])
    numbers = list(NUMBERS)
    new = {
        "append": [*numbers, 240, 241],
        "insert": [*numbers[:60], 240, *numbers[60:]],
        "change": [*numbers[:60], 250, *numbers[61:]],
        "remove": [*numbers[:60], *numbers[61:]],
    }[change]
    corpus.write_text(lines(new))
    done, merge, merged, join, words = counted(monkeypatch), Lexicon.merged, [], Spell.join, []
    monkeypatch.setattr(Lexicon, "merged", lambda some: merged.append(len(some := list(some))) or merge(some))
    monkeypatch.setattr(Spell, "join", lambda path, *some: words.append(sum(map(len, some))) or join(path, *some))
    again = karat.index(corpus, tmp_path / "i", jobs=1, engines=engines)
    assert 1 <= len(done["read"]) <= pieces - 4
    assert (again.reuse.read, again.reuse.docs) == (len(done["read"]), sum(done["read"]))
    assert len(done["build"]) <= len(engines) * len(done["read"])
    assert merged == [1 + len(done["read"])]  # the earlier terms and those of new shards
    assert words == [min(len(again.about["shards"]["chunks"]), 1 + 2 * len(done["read"]))]
    karat.index(corpus, tmp_path / "fresh", jobs=1, engines=engines)
    assert files_of(tmp_path / "i") == files_of(tmp_path / "fresh")
    assert {p.name for p in (tmp_path / "i" / "shards").iterdir()} == {
        one["name"] for part in again.about["shards"].values() for one in part
    }


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_a_build_says_what_it_used_again(tmp_path, corpus, monkeypatch):
    def fail(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as interrupted:
        interrupted.setattr(index_stages.BuildShard, "run", fail)
        with pytest.raises(KeyboardInterrupt):
            karat.index(corpus, tmp_path / "i", jobs=1, engines="bm25")
    index = karat.index(corpus, tmp_path / "i", jobs=1, engines="bm25")
    pieces = index.reuse.pieces
    assert index.reuse.line == f"everything ({pieces} pieces from an interrupted build)"
    corpus.write_text(lines([*range(240), 240, 241]))
    steps = []
    index = karat.index(corpus, tmp_path / "i", jobs=1, engines="bm25", progress=lambda *step: steps.append(step[0]))
    assert index.reuse.line == f"{pieces - 1} of {pieces} pieces; 1 changed or new ({index.reuse.docs} documents read)"
    assert f"using {pieces - 1} of {pieces} pieces that were read before" in steps
    corpus.write_text(lines(range(100)))
    assert karat.index(corpus, tmp_path / "i", jobs=1, engines="bm25").reuse.removed > 1
    assert Index.open(tmp_path / "i").reuse is None


@pytest.mark.parametrize(
    ("known", "line"),
    [
        ({"is_first": True, "read": 4}, None),
        ({"read": 1, "pieces": 1}, None),
        ({"read": 4, "docs": 1}, "0 of 4 pieces; 4 changed or new (1 document read)"),
        ({"removed": 1}, "everything; 1 piece removed"),
        ({"read": 1, "docs": 9, "continued": 3, "is_first": True},
         "3 of 4 pieces (3 pieces from an interrupted build); 1 changed or new (9 documents read)"),
    ],
)  # fmt: skip
def test_what_is_said_of_pieces(known, line):
    nothing = {"pieces": 4, "read": 0, "docs": 0, "continued": 0, "removed": 0, "is_first": False}
    assert PieceReuse(**{**nothing, **known}).line == line


@pytest.mark.usefixtures("small")
def test_settings_of_an_engine_cost_no_reading(tmp_path, corpus, standing, monkeypatch):
    done = counted(monkeypatch)
    karat.index(corpus, tmp_path / "i", jobs=1, engines="bm25", settings={"bm25": {"k1": 0.9}})
    assert done["read"] == []


def test_what_could_not_be_read_is_tried_again(tmp_path, monkeypatch):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("The tank is dipped every Monday.")
    (docs / "b.txt").write_text("The radio room answers to Lantern.")
    broken = index_stages.read_piece

    def failing(description, *, progress):
        reading = broken(description, progress=progress)
        part = reading.parts[1]
        fault = {"kind": "limit", "reason": "takes long", "remedy": "", "fatal": True}
        object.__setattr__(part, "fault", fault)
        object.__setattr__(part, "docs", 0)
        object.__setattr__(reading, "docs", reading.docs[:1])
        return reading

    monkeypatch.setattr(index_stages, "read_piece", failing)
    assert len(karat.index(docs, tmp_path / "i", engines="bm25").docs) == 1
    monkeypatch.setattr(index_stages, "read_piece", broken)
    index = karat.index(docs, tmp_path / "i", engines="bm25")
    assert (len(index.docs), [problem for problem in index.problems if problem.fatal]) == (2, [])
    assert len(list((tmp_path / "i" / "shards").iterdir())) == 2


def one_and_many(tmp_path, monkeypatch, corpus, **how):
    one = karat.index(corpus, tmp_path / "one", engines="bm25", **how)
    monkeypatch.setattr(index_build, "PIECE_BYTES", PIECE)
    many = karat.index(corpus, tmp_path / "many", engines="bm25", jobs=1, **how)
    assert len(many.about["shards"]["chunks"]) > 3
    assert list(many.chunks) == list(one.chunks)
    assert list(many.docs) == list(one.docs)
    assert many.problems == one.problems
    assert many.about["taken"] == one.about["taken"]
    return many


@pytest.mark.slow
def test_documents_of_one_id_in_two_pieces_end_as_in_one(tmp_path, monkeypatch):
    corpus = tmp_path / "docs.jsonl"
    corpus.write_text(lines([*range(60), 5, *range(60, 120)]) + line(7, "another text under the id of seven"))
    many = one_and_many(tmp_path, monkeypatch, corpus)
    assert {problem.kind for problem in many.problems} == {"duplicate", "clash"}
    done = counted(monkeypatch)
    karat.index(corpus, tmp_path / "many", engines="bm25", jobs=1)
    assert done == {"read": [], "build": []}


@pytest.mark.slow
def test_a_document_that_is_called_what_a_chunk_elsewhere_is_called(tmp_path, monkeypatch):
    corpus = tmp_path / "docs.jsonl"
    numbers = range(120)
    clash = json.loads(line(3))["id"]
    extra = json.dumps({"id": f"{clash}#0001", "text": "called as a chunk of another"}) + "\n"
    corpus.write_text(lines(numbers) + extra)
    many = one_and_many(tmp_path, monkeypatch, corpus)
    assert [problem.kind for problem in many.problems] == ["renamed"]


@pytest.mark.slow
def test_ids_that_are_made_of_rows_follow_them(tmp_path, monkeypatch):
    corpus = tmp_path / "docs.jsonl"
    texts = [json.dumps({"text": json.loads(line(number))["text"]}) + "\n" for number in range(150)]
    corpus.write_text("".join(texts[:120]))
    monkeypatch.setattr(index_build, "PIECE_BYTES", PIECE)
    karat.index(corpus, tmp_path / "many", engines="bm25", jobs=1)
    monkeypatch.undo()
    corpus.write_text("".join([*texts[120:], *texts[:120]]))
    one_and_many(tmp_path, monkeypatch, corpus)


@pytest.mark.usefixtures("small")
def test_a_damaged_shard_is_named_and_mended_by_the_next_build(tmp_path, corpus, standing):
    before = files_of(tmp_path / "i")
    name = standing.about["shards"]["chunks"][1]["name"]
    file = tmp_path / "i" / "shards" / name / "chunks.jsonl"
    file.write_bytes(file.read_bytes().replace(b"lantern", b"lantarn", 1))
    with pytest.raises(InputError, match=f"damaged: shards/{name}/chunks.jsonl is not what was written"):
        list(Index.open(tmp_path / "i").chunks)
    with pytest.raises(InputError, match="its checksum differs"):
        Index.open(tmp_path / "i", verify=True)
    karat.index(corpus, tmp_path / "i", jobs=1, engines="bm25")
    assert files_of(tmp_path / "i") == before


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("part", ["shards", "shards/{}", "shards/{}/words.txt"])
def test_shards_lead_to_no_file_outside_the_folder(tmp_path, corpus, standing, part):
    path = tmp_path / "i" / part.format(standing.about["shards"]["chunks"][1]["name"])
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link"):
        Index.open(tmp_path / "i")
    kept = files_of(tmp_path / "elsewhere") if part != "shards/{}/words.txt" else path.read_bytes()
    again = karat.index(corpus, tmp_path / "i", jobs=1, engines="bm25")  # which mends it, and touches nothing outside
    assert len(Index.open(tmp_path / "i", verify=True).chunks) == len(again.chunks)
    elsewhere = tmp_path / "elsewhere"
    assert kept == (files_of(elsewhere) if elsewhere.is_dir() else elsewhere.read_bytes())


@pytest.mark.usefixtures("small")
def test_what_else_stands_beside_shards_is_left_alone(tmp_path, corpus, standing):
    (tmp_path / "i" / "shards" / "mine").mkdir()
    corpus.write_text(lines(range(100)))
    karat.index(corpus, tmp_path / "i", jobs=1, engines="bm25")
    assert (tmp_path / "i" / "shards" / "mine").is_dir()


@pytest.mark.parametrize("change", [{"digest": None}, {"digest": 7}])
def test_a_shard_without_a_digest_is_refused(tmp_path, corpus, change):
    from karat.io.checksum import sealed

    karat.index(corpus, tmp_path / "i", engines="bm25")
    head = json.loads((tmp_path / "i" / "index.json").read_text())
    head["shards"]["chunks"][0].update(change)
    (tmp_path / "i" / "index.json").write_text(json.dumps(sealed(head)))
    with pytest.raises(InputError, match="names shards that cannot be"):
        Index.open(tmp_path / "i")


def test_rows_are_counted_and_not_believed(tmp_path, corpus):
    from karat.io.checksum import digest, sealed

    index = karat.index(corpus, tmp_path / "i", engines="bm25")
    shard = index.about["shards"]["chunks"][0]
    card = tmp_path / "i" / "shards" / shard["name"] / "shard.json"
    values = {**json.loads(card.read_text()), "rows": 10**18}
    card.write_text(json.dumps(values))
    head = json.loads((tmp_path / "i" / "index.json").read_text())
    head["shards"]["chunks"][0]["digest"] = digest(values)
    (tmp_path / "i" / "index.json").write_text(json.dumps(sealed(head)))
    assert len(Index.open(tmp_path / "i").search("lantern item3", 3)) == 3


@pytest.mark.parametrize("row", [-1, 10**9, 0])
def test_an_order_that_cannot_be_is_refused(sparse, row):
    from karat.corpus import load_chunks

    index = Index.open(sparse)
    folders, orders = index._shards("chunks"), [order.copy() for order in index._orders]
    assert len(load_chunks(folders, orders)) == 240
    orders[-1][-1] = row if row else orders[0][0]
    with pytest.raises(InputError, match="does not give each of them one row"):
        load_chunks(folders, orders)


def test_an_index_names_no_shard_outside_its_folder(tmp_path, corpus):
    from karat.io.checksum import sealed

    karat.index(corpus, tmp_path / "i", engines="bm25")
    head = json.loads((tmp_path / "i" / "index.json").read_text())
    head["shards"]["chunks"][0]["name"] = "../../elsewhere"
    (tmp_path / "i" / "index.json").write_text(json.dumps(sealed(head)))
    with pytest.raises(InputError, match="names shards that cannot be"):
        Index.open(tmp_path / "i")


def test_an_index_of_version_1_opens_and_its_embeddings_are_used_again(tmp_path, monkeypatch):
    shutil.copytree(Path(__file__).parents[2] / "data" / "version-1.index", tmp_path / "i")
    index = Index.open(tmp_path / "i", verify=True)
    assert index.about["version"] == 1
    assert [doc.id for doc in index.docs] == ["fuel.md", "watch.md"]
    for engine in ("bm25", "dense"):
        row = index.engine(engine).search(["how much fuel holds a tank"], 1).rows[0]
        assert index.chunks[row].doc == "fuel.md"
    assert index.spell.nearest("tenk") == ("tank", 1)
    (tmp_path / "docs").mkdir()
    for doc in index.docs:
        (tmp_path / "docs" / doc.id).write_text(f"# {doc.title}\n\n{doc.text.partition(chr(10))[2].strip()}\n")
    embedded = []
    kind = type(index.engine("dense").embedder)
    original = kind.embed
    monkeypatch.setattr(kind, "embed", lambda self, texts, role: embedded.extend(texts) or original(self, texts, role))
    again = karat.index(tmp_path / "docs", tmp_path / "i")
    assert (again.about["version"], list(again.chunks), embedded) == (2, list(index.chunks), [])
    assert list((tmp_path / "i").glob("f85013e8c371")) == []
