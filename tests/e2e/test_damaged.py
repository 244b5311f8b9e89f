"""Files that karat wrote and that came back with a changed bit: the same numbers, or a sentence that names the file."""

import gzip
import json
import random

import pytest

from karat.core.errors import InputError, KaratError
from karat.experiment.store import open_run
from karat.io import filetable
from karat.report import objects
from karat.results.serial import load_study
from karat.systems.index import Index, index

MANY = 25
POSITIONS = [pytest.param(3, id="some"), pytest.param(MANY, id="many", marks=pytest.mark.slow)]


def flips(path, positions):
    """Bits of some bytes of a file, each changed for a while: all where the bytes are many, else two of each."""
    data = path.read_bytes()
    draw = random.Random(path.name)
    for place in range(len(data)) if len(data) <= positions else sorted(draw.sample(range(len(data)), positions)):
        for bit in range(8) if positions >= MANY else draw.sample(range(8), 2):
            path.write_bytes(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
            yield place, bit
    path.write_bytes(data)


@pytest.fixture
def built(station, folder):
    return index("corpus.jsonl", "x.index", chunk="whole").path


def found_in(path):
    """All that is read of an index."""
    opened = Index.open(path)
    hits = [tuple(opened.search("night watch", 3, engine)) for engine in ("bm25", "dense")]
    return hits, [chunk.text for chunk in opened.chunks], list(opened.docs), opened.spell.nearest("wach")


@pytest.mark.slow
@pytest.mark.parametrize("small", [8 << 20, 0], ids=["small files", "large files"])
@pytest.mark.parametrize("positions", POSITIONS)
def test_no_bit_of_an_index_changes_what_is_found_in_silence(built, monkeypatch, small, positions):
    monkeypatch.setattr(filetable, "SMALL", small)
    sound, wrong = found_in(built), []
    for path in sorted(p for p in built.rglob("*") if p.is_file() and p.name != ".lock"):
        for place, bit in flips(path, positions):
            try:
                if found_in(built) != sound:
                    wrong.append((path.name, place, bit))
            except InputError as error:
                if "x.index" not in str(error):
                    wrong.append((path.name, place, bit, str(error)))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("positions", POSITIONS)
def test_no_bit_of_a_manifest_or_a_study_changes_a_number_in_silence(station, put, karat, last, positions):
    put("karat.yaml", station.spec.replace("[pure_dense, balanced, pure_sparse, rrf]", "[pure_sparse]"))
    assert karat("run", "-q").code == 0
    run = last()

    def shown():
        folder = open_run(run)
        return folder.manifest, objects.study(load_study(folder.path), "run")

    sound, wrong = shown(), []
    for name in ("manifest.json", "study.json.gz"):
        for place, bit in flips(run / name, 4 * positions):
            try:
                manifest, study = shown()
                same = study == sound[1] and all(manifest.get(entry) == value for entry, value in sound[0].items())
                if not same:
                    wrong.append((name, place, bit))
            except InputError as error:
                if name not in str(error):
                    wrong.append((name, place, bit, str(error)))
    assert wrong == []


@pytest.mark.slow
def test_what_is_damaged_in_a_journal_is_named_and_done_again(station, put, karat, last):
    assert karat("run", "-q").code == 0
    run = last()
    assert [path.stat().st_mode & 0o777 for path in (run.parent, run, run / "journal.jsonl")] == [0o700, 0o700, 0o600]
    rows, journal = (run / "rows.parquet").read_bytes(), (run / "journal.jsonl").read_bytes()
    for place in random.Random(0).sample(range(len(journal)), 3):
        open_run(run).update(status="running")
        (run / "journal.jsonl").write_bytes(journal[:place] + bytes([journal[place] ^ 4]) + journal[place + 1 :])
        told = karat("run")
        assert told.code == 0, told.err
        assert last() == run
        assert (run / "rows.parquet").read_bytes() == rows
        line = journal[:place].count(b"\n") + 1
        assert f"journal.jsonl line {line} was damaged" in told.out


def test_answers_that_were_changed_are_not_judged(station, put, karat, last):
    put("karat.yaml", station.spec.replace("[pure_dense, balanced, pure_sparse, rrf]", "[pure_sparse]"))
    assert karat("run", "-q", "--answer", "extractive").code == 0
    answers = last() / "answers.jsonl"
    answers.write_text(answers.read_text().replace("four", "five"))
    told = karat("judge", "-m", "Responsiveness(by=heuristic)")
    assert told.code == 2
    assert "answers.jsonl: it is not what karat wrote: its checksum differs" in told.sentence


def test_one_damaged_manifest_hides_no_other_run(station, put, karat, last, folder):
    put("karat.yaml", station.spec.replace("[pure_dense, balanced, pure_sparse, rrf]", "[pure_sparse]"))
    for _ in range(3):
        assert karat("run", "-q", "--fresh").code == 0
    latest = last()
    odd, deep = sorted(path for path in folder.glob("runs/*-station-*") if path != latest)
    (odd / "manifest.json").write_text((odd / "manifest.json").read_text().replace('"questions": 6', '"questions": 7'))
    (deep / "manifest.json").write_text('{"karat": "1", "a": ' + "[" * 100_000)
    put("runs/old/manifest.json", {"karat": "0.1", "summary": 5, "started": [], "name": None, "number": "x"})
    put("runs/older/manifest.json", {"karat": "0.1", "summary": {"best": {}, "mean": "x", "systems": []}})
    told = karat("show")
    assert told.code == 0, told.err
    assert {odd.name, deep.name, latest.name, "old", "older"} <= set(told.out.split())
    assert told.out.count("damaged") == 2
    assert [run["status"] for run in json.loads(karat("show", "--json").out)].count("damaged") == 2
    assert karat("show", "LAST").code == 0
    assert last() == latest
    assert "manifest.json: the manifest is damaged: its checksum differs" in karat("show", odd.name).sentence
    assert "manifest.json" in karat("show", deep.name).sentence


def test_a_study_that_is_cut_short_is_named(station, put, karat, last):
    put("karat.yaml", station.spec.replace("[pure_dense, balanced, pure_sparse, rrf]", "[pure_sparse]"))
    assert karat("run", "-q").code == 0
    study = last() / "study.json.gz"
    study.write_bytes(study.read_bytes()[:200])
    with pytest.raises(KaratError, match=r"study.json.gz: .*truncated"):
        load_study(last())
    study.write_bytes(gzip.compress(b" " * (64 << 20)))
    shown = karat("show", "LAST")
    assert shown.code == 2
    assert "study.json.gz: " in shown.sentence
    assert "unpack" in shown.sentence
