"""A corpus read piece by piece: the same documents and problems as at once, and pieces that stay what they are."""

import gzip
import json
import random

import numpy as np
import pytest

from karat.core.docs import Chunks
from karat.core.errors import InputError, KaratError, UsageError
from karat.corpus import (
    Chunking,
    PieceFacts,
    PieceReading,
    chunk_docs,
    load_chunks,
    load_docs,
    pieces_again,
    plan_corpus,
    read,
    read_piece,
    save_chunks,
    save_docs,
)

SMALL = 4 << 10


def record(number, **more):
    return json.dumps({"id": f"p{number:05d}", "text": f"Passage {number} on lamps and oil.", **more})


def written(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def in_pieces(sources, tmp_path, chunking="tokens:200:40", known=None, **settings):
    """A corpus read, chunked and joined as an index does it; `known` holds what earlier builds read, by digest."""
    known = {} if known is None else known
    plan = plan_corpus(sources, piece_bytes=SMALL, **settings)
    pieces = list(plan.pieces)

    def done(piece):
        folder = tmp_path / piece.digest
        if piece.digest not in known:
            description = json.loads(json.dumps(piece.description))
            reading = read_piece(description)
            chunked = chunk_docs(reading.docs, Chunking.parse(chunking), names=description.get("names", ()))
            save_docs(reading.docs, folder)
            save_chunks(chunked.chunks, folder)
            PieceFacts.of(reading, chunked).save(folder / "facts.json")
            known[piece.digest] = folder
        return folder, PieceFacts.load(folder / "facts.json")

    results = [done(piece) for piece in pieces]
    for number, again in pieces_again(pieces, [f for _, f in results], [folder for folder, _ in results]).items():
        results[number] = done(again)
    folders, facts = [folder for folder, _ in results], sum((facts for _, facts in results), PieceFacts())
    files = plan.conclude(facts.parts)
    return plan, folders, files, facts


def orders_of(folders):
    ids = [(id_.encode("utf-8", "surrogatepass"), n) for n, f in enumerate(folders) for id_ in load_chunks(f).ids]
    rows = [[] for _ in folders]
    for row, (_, shard) in enumerate(sorted(ids)):
        rows[shard].append(row)
    return [np.array(rows_of_shard, np.int64) for rows_of_shard in rows]


def check_same(sources, tmp_path, chunking="tokens:200:40", **settings):
    """That reading in pieces gives what reading at once gives."""
    plan, folders, files, facts = in_pieces(sources, tmp_path / "shards", chunking, **settings)
    whole = read(sources, **settings)
    chunked = chunk_docs(whole.docs, Chunking.parse(chunking))
    assert list(load_docs(folders)) == list(whole.docs)
    assert files.problems == whole.problems
    assert files.taken == whole.taken
    stored = load_chunks(folders, orders_of(folders))
    assert list(stored) == list(chunked.chunks)
    assert list(stored.ids) == list(chunked.chunks.ids)
    assert list(stored.texts) == list(chunked.chunks.texts)
    for field in ("doc", "title", "url", "pages", "labels", "span"):
        assert stored.column(field) == chunked.chunks.column(field)
    assert [stored.row_of[id_] for id_ in stored.ids] == list(range(len(stored)))
    assert "nobody" not in stored.row_of
    assert facts.notes.problems == chunked.notes.problems
    at_once = PieceFacts.of(PieceReading(whole.docs, ()), chunked)
    boilerplate = list(at_once.boilerplate_problems(chunked.chunks))
    assert list(facts.boilerplate_problems(stored)) == boilerplate
    counts = (len(whole.docs), len(chunked.chunks), sum(chunk.tokens for chunk in chunked.chunks))
    assert (facts.docs, facts.chunks, facts.tokens) == counts
    return plan, whole


@pytest.mark.slow
def test_a_large_file_of_lines_is_read_in_pieces(tmp_path):
    path = written(tmp_path / "docs.jsonl", [record(n) for n in range(1000)])
    plan, _ = check_same(path, tmp_path)
    assert len(plan.pieces) > 8
    assert sum(piece.bytes for piece in plan.pieces) == path.stat().st_size
    assert all(SMALL * 3 // 4 <= piece.bytes <= SMALL * 3 // 2 + 100 for piece in plan.pieces[:-1])


def test_a_small_corpus_is_one_piece(tmp_path):
    written(tmp_path / "a.jsonl", [record(1)])
    (tmp_path / "b.txt").write_text("Two.")
    plan, _ = check_same(tmp_path / "a.jsonl", tmp_path)
    assert len(plan.pieces) == 1


@pytest.mark.slow
def test_files_are_grouped_in_their_order(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number:02d}.txt").write_text(f"Number {number}. " * random.Random(number).randrange(5, 60))
    (folder / "30.png").write_bytes(b"\x89PNG\r\n")
    (folder / "31.csv").write_text("id,text\n1,\n")
    (folder / "large.txt").write_text("Oil. " * 4000)
    plan, whole = check_same(folder, tmp_path)
    assert len(plan.pieces) > 5
    assert whole.problems


def test_what_is_packed_or_no_file_of_lines_stays_whole(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    lines = [record(n, noise=random.Random(n).random()) for n in range(1000)]
    (folder / "a.jsonl.gz").write_bytes(gzip.compress("\n".join(lines[:500]).encode()))
    (folder / "b.json").write_text(f"[{','.join(lines[500:])}]")
    (folder / "c.jsonl").write_bytes("\n".join(record(n + 2000) for n in range(300)).encode("utf-16"))
    plan, _ = check_same(folder, tmp_path)
    assert [len(piece.description["files"]) for piece in plan.pieces] == [1, 1, 1]


def odd_lines():
    lines = [record(n) for n in range(400)]
    for row in range(3, 400, 9):
        lines[row] = '{"id": "broken'
    for row in range(5, 400, 14):
        lines[row] = json.dumps({"id": f"e{row}", "text": ""})
    for row in range(7, 400, 21):
        lines[row] = json.dumps({"id": f"t{row}", "tales": "no text"})
    for row in range(11, 400, 30):
        lines[row] = record(1)  # the same again
        lines[row + 1] = record(2, text="another")
    for row in range(13, 400, 50):
        lines[row] = ""
        lines[row + 1] = record(1000 + row, page=0)
        lines[row + 2] = record(2000 + row, page=3, page_number=4)
        lines[row + 3] = "[1]"
    return lines


@pytest.mark.slow
def test_problems_are_named_and_counted_as_at_once(tmp_path):
    path = written(tmp_path / "docs.jsonl", odd_lines())
    with path.open("ab") as out:
        for number in (5000, 5001):
            out.write(record(number, text="caf\u00e9 noir").encode("latin-1").replace(b"\\u00e9", b"\xe9") + b"\n")
    _, whole = check_same(path, tmp_path)
    kinds = {problem.kind for problem in whole.problems}
    assert {"broken", "empty", "textless", "pages", "duplicate", "clash", "encoding"} <= kinds
    assert any("more rows have the same kind" in problem.reason for problem in whole.problems)


@pytest.mark.slow
def test_a_file_whose_records_have_no_text_is_refused_as_a_whole(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    written(folder / "a.jsonl", [json.dumps({"id": str(n), "tales": "x" * 20}) for n in range(600)])
    (folder / "b.txt").write_text("Two.")
    _, whole = check_same(folder, tmp_path)
    assert [problem.kind for problem in whole.problems] == ["unsupported"]


@pytest.mark.slow
def test_texts_that_stand_in_a_later_piece_are_seen(tmp_path):
    lines = [json.dumps({"id": str(n), "tales": "x" * 20}) for n in range(600)]
    check_same(written(tmp_path / "docs.jsonl", [*lines, record(1)]), tmp_path)


def test_a_corpus_without_documents_and_an_unused_column_are_refused(tmp_path):
    path = written(tmp_path / "docs.jsonl", [json.dumps({"id": str(n), "tales": "x" * 20}) for n in range(600)])
    for reader in (read, lambda source, **more: in_pieces(source, tmp_path, **more)):
        with pytest.raises(InputError, match="no document could be read"):
            reader(path)
        with pytest.raises(UsageError, match="--map story=text: no record has a field 'story'"):
            reader(path, columns={"story": "text"})
        assert reader(path, columns={"tales": "text"})


def test_ids_that_are_taken_in_another_piece(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("a", "b", "c"):
        same = [record(n) for n in range(40)] + [record(n, text=name * 9) for n in range(40, 80)]
        own = [json.dumps({"id": f"{name}{n}", "text": "own"}) for n in range(60)]
        written(folder / f"{name}.jsonl", [*own, *same])
    plan, whole = check_same(folder, tmp_path)
    assert len(plan.pieces) == 3
    assert {problem.kind for problem in whole.problems} == {"duplicate", "clash"}


def test_a_chunk_is_not_called_what_a_document_of_another_piece_is_called(tmp_path):
    filler = [record(n) for n in range(200)]
    named = [json.dumps({"id": id_, "text": "x y z"}) for id_ in ("lamp#0001", "lamp#00001", "p00003#0001")]
    lamp = json.dumps({"id": "lamp", "text": "One two three."})
    path = written(tmp_path / "docs.jsonl", [*filler, lamp, *[record(n) for n in range(200, 400)], *named])
    check_same(path, tmp_path)


@pytest.mark.slow
def test_boilerplate_is_counted_for_documents_that_stand_in_several_pieces(tmp_path):
    contents = "\n".join(f"{n} Chapter on oil .... {n}" for n in range(1, 7))
    links = "\n".join(f"[Lamp {n}](https://example.org/lamps/{n})" for n in range(1, 7))
    texts = [contents, links, "Oil burns with a clear flame in a lamp that is trimmed.", links]
    lines = [
        json.dumps({"id": f"p{n:04d}", "doc": f"book{n % 3}", "text": texts[n % 7] if n % 7 < 4 else texts[2]})
        for n in range(300)
    ]
    path = written(tmp_path / "docs.jsonl", lines)
    plan, folders, _, facts = in_pieces(path, tmp_path / "kept")
    assert len(plan.pieces) > 3
    notes = [problem.reason for problem in facts.boilerplate_problems(load_chunks(folders, orders_of(folders)))]
    assert notes[0] == "44 of 100 chunks look like boilerplate: a list of links (29), a table of contents (15)."
    assert len(notes) == 3
    check_same(path, tmp_path)


def test_documents_chunked_otherwise_than_asked_are_one_note(tmp_path):
    check_same(written(tmp_path / "docs.jsonl", [record(n) for n in range(400)]), tmp_path, "page")


@pytest.mark.slow
def test_ids_made_of_rows_follow_the_rows(tmp_path):
    lines = [json.dumps({"text": f"Passage {n}."}) for n in range(800)]
    path = written(tmp_path / "docs.jsonl", lines)
    check_same(path, tmp_path)
    known = {}
    in_pieces(path, tmp_path / "kept", known=known)
    written(path, [json.dumps({"text": "first"}), *lines])
    _, folders, _, _ = in_pieces(path, tmp_path / "kept", known=known)
    assert list(load_docs(folders)) == list(read(path).docs)


def test_problems_are_moved_with_their_rows(tmp_path):
    path = written(tmp_path / "docs.jsonl", odd_lines())
    known = {}
    in_pieces(path, tmp_path / "kept", known=known)
    written(path, ["", "{", *odd_lines()])
    before = len(known)
    _, _, files, _ = in_pieces(path, tmp_path / "kept", known=known)
    assert files.problems == read(path).problems
    assert len(known) <= before + 2


def test_a_change_moves_only_the_ends_beside_it(tmp_path):
    lines = [record(n) for n in range(3000)]
    before = [piece.digest for piece in plan_corpus(written(tmp_path / "d.jsonl", lines), piece_bytes=SMALL).pieces]
    for changed in ([*lines[:1500], record(9999), *lines[1500:]], lines[:1500] + lines[1501:], [record(9), *lines]):
        plan = plan_corpus(written(tmp_path / "d.jsonl", changed), piece_bytes=SMALL)
        assert len({piece.digest for piece in plan.pieces} - set(before)) <= 2
    assert [p.digest for p in plan_corpus(written(tmp_path / "d.jsonl", lines), piece_bytes=SMALL).pieces] == before


def test_digests_follow_what_documents_follow_from(tmp_path):
    path = written(tmp_path / "docs.jsonl", [record(1)])
    digests = {
        plan_corpus(path).pieces[0].digest,
        plan_corpus(path, columns={"id": "title"}).pieces[0].digest,
        plan_corpus(tmp_path).pieces[0].digest,
        plan_corpus(path.rename(tmp_path / "other.jsonl")).pieces[0].digest,
        plan_corpus(written(tmp_path / "other.jsonl", [record(2)])).pieces[0].digest,
    }
    assert len(digests) == 5


def test_a_file_that_changes_meanwhile_is_refused(tmp_path):
    path = written(tmp_path / "docs.jsonl", [record(n) for n in range(300)])
    piece = plan_corpus(path, piece_bytes=SMALL).pieces[1]
    written(path, [record(n) for n in range(301)])
    with pytest.raises(KaratError, match=r"docs\.jsonl was changed while it was indexed\. Index again\."):
        read_piece(piece.description)


def test_a_line_longer_than_a_piece_is_one(tmp_path):
    lines = [record(1), record(2, text="oil " * 5000), record(3), record(4, text="lamp " * 5000)]
    plan, _ = check_same(written(tmp_path / "docs.jsonl", lines), tmp_path)
    assert len(plan.pieces) >= 2


def test_several_shards_need_their_orders(tmp_path):
    for name in ("a", "b"):
        save_chunks(Chunks([]), tmp_path / name)
    with pytest.raises(ValueError, match="order"):
        load_chunks([tmp_path / "a", tmp_path / "b"])
