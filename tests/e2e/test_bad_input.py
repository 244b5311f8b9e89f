"""Bad input at the command line: one clear sentence that names the file and the row, the right code, no traceback."""

import gzip
import json
import os
import random

import pytest

GOLD = {"id": "q1", "question": "?", "gold": ["d1"]}
LINE = "q1 Q0 d1 1 3.0 t\n"


def jsonl(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


CAFE = b'{"id": "q2", "question": "caf\xe9"}\n'
NAN = '{"id": "q1", "retrieved": [{"id": "d1", "score": NaN}]}\n'
HALF = {**GOLD, "gold": [{"id": "d1", "grade": 0.5}]}
ANSWERED = {"id": "q1", "retrieved": ["d1"]}

CASES = {
    "empty test set": ("qa.jsonl", "", ["qa.jsonl", "empty"]),
    "empty results": ("bm25.run", "", ["bm25.run", "empty"]),
    "blank results": ("bm25.run", "\n \n", ["bm25.run", "empty"]),
    "wrong encoding": ("qa.jsonl", jsonl(GOLD).encode() + CAFE, ["qa.jsonl", "UTF-8"]),
    "wrong encoding of a run": ("bm25.run", LINE.encode() + b"q1 Q0 caf\xe9 2 1.0 t\n", ["bm25.run", "UTF-8"]),
    "truncated gz": ("bm25.run.gz", None, ["bm25.run.gz"]),
    "gz in name only": ("bm25.run.gz", "plain", ["bm25.run.gz"]),
    "missing field of a run": ("bm25.run", LINE + "q2 Q0 d2 1\n", ["bm25.run", "line 2"]),
    "missing field of qrels": ("qrels.txt", "q1 0 d1 1\nq1 0 d2\n", ["qrels.txt", "line 2"]),
    "missing gold": ("qa.jsonl", jsonl(GOLD, {"id": "q2", "question": "?"}), ["qa.jsonl", "line 2", "gold"]),
    "missing id of a result": ("r.jsonl", jsonl(ANSWERED, {"retrieved": ["d2"]}), ["r.jsonl", "2"]),
    "broken JSON line": ("qa.jsonl", jsonl(GOLD) + '{"id": "q2", \n', ["qa.jsonl", "line 2"]),
    "duplicate questions": ("qa.jsonl", jsonl(GOLD, {**GOLD, "id": "q2"}, GOLD), ["qa.jsonl", "q1", "line 3"]),
    "duplicate results": ("r.jsonl", jsonl(ANSWERED, ANSWERED), ["r.jsonl", "q1", "line 2"]),
    "duplicate hits of a run": ("bm25.run", LINE + "q2 Q0 d1 1 1 t\n" + LINE, ["bm25.run", "q1", "d1", "line 3"]),
    "duplicate judgements": ("qrels.txt", "q1 0 d1 1\nq2 0 d1 1\nq1 0 d1 0\n", ["qrels.txt", "q1", "d1", "line 3"]),
    "duplicate hits of a table": ("h.csv", "query,doc,score\nq1,d1,1\nq1,d1,2\n", ["h.csv", "q1", "d1"]),
    "NaN score": ("bm25.run", LINE + "q1 Q0 d2 2 nan t\n", ["bm25.run", "line 2", "nan"]),
    "infinite score": ("bm25.run", LINE + "q1 Q0 d2 2 -inf t\n", ["bm25.run", "line 2", "inf"]),
    "score that is no number": ("bm25.run", LINE + "q1 Q0 d2 2 high t\n", ["bm25.run", "line 2", "high"]),
    "infinite score of a table": ("h.csv", "query,doc,score\nq1,d1,1\nq1,d2,inf\n", ["h.csv", "inf"]),
    "NaN score of a record": ("r.jsonl", NAN, ["r.jsonl", "line 1"]),
    "fractional grade": ("qrels.txt", "q1 0 d1 1\nq1 0 d2 1.5\n", ["qrels.txt", "line 2", "1.5"]),
    "grade that is no number": ("qrels.txt", "q1 0 d1 1\nq1 0 d2 good\n", ["qrels.txt", "line 2", "good"]),
    "fractional grade of a record": ("qa.jsonl", jsonl(HALF), ["qa.jsonl", "line 1", "0.5"]),
    "binary test set": ("qa.jsonl", bytes(range(256)) * 8, ["qa.jsonl", "binary"]),
    "binary results": ("bm25.run", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, ["bm25.run", "binary"]),
    "truncated Parquet": ("h.parquet", b"PAR1" + b"\x00\x01" * 50, ["h.parquet"]),
    "no format": ("bm25.run", "hello there\n", ["bm25.run"]),
    "nested too deep": ("qa.jsonl", "[" * 100_000 + "\n", ["qa.jsonl"]),
}  # fmt: skip


@pytest.mark.parametrize("case", list(CASES))
def test_bad_input_is_named(case, put, folder, karat):
    put("good.jsonl", [GOLD, {**GOLD, "id": "q2"}])
    put("good.run", LINE)
    name, content, parts = CASES[case]
    if case == "truncated gz":
        (folder / name).write_bytes(gzip.compress(LINE.encode() * 1000, mtime=0)[:-20])
    elif case == "gz in name only":
        (folder / name).write_text(content)
    else:
        put(name, content)
    is_testset = name.startswith(("qa", "qrels"))
    told = karat("score", name, "good.run") if is_testset else karat("score", "good.jsonl", name)
    assert told.code == 2, told
    for part in parts:
        assert part.lower() in told.sentence.lower()
    assert len(told.sentence) < 500
    converted = karat("convert", name, "out.jsonl")
    assert (converted.code, bool(converted.sentence)) == (2, True)
    assert not (folder / "out.jsonl").exists()


def test_what_is_not_there_or_not_a_file(put, folder, karat):
    put("good.jsonl", [GOLD])
    (folder / "some").mkdir()
    put("some/x.txt", "x")
    for words in (("some", "good.jsonl"), ("good.jsonl", "some")):
        told = karat("score", *words)
        assert told.code == 2
        assert told.sentence.startswith("some: is a folder")
    for words in (("nothing.jsonl", "good.jsonl"), ("good.jsonl", "nothing.run")):
        told = karat("score", *words)
        assert told.code == 2
        assert "nothing" in told.sentence


def test_control_characters_of_a_file_do_not_reach_the_terminal(put, karat):
    put("good.jsonl", [GOLD])
    put("bm25.run", "q1 Q0 d\x1b[31m1 1 3.0 t\nq1 Q0 d2 2 \x1b]0;x\x07 t\n")
    told = karat("score", "good.jsonl", "bm25.run")
    assert told.code == 2
    assert "\x1b" not in told.err
    put("odd.run", "q1 Q0 d1 1 3.0 t\n")
    put("odd\x1b[31m.run", "q1 Q0 d1 1 3.0 t\n")
    shown = karat("score", "good.jsonl", "odd\x1b[31m.run", "-m", "MRR")
    assert shown.code == 0
    assert "\x1b" not in shown.out


PEAK = """
import sys
try:
    %s
finally:
    with open("/proc/self/status") as status:
        print("PEAK", *[line.split()[1] for line in status if line.startswith("VmHWM")], file=sys.stderr)
"""
COMMAND = PEAK % "from karat.cli.main import main; main()"
HOLDING = PEAK % "from karat.cli.main import main; from pathlib import Path; held = Path(sys.argv[1]).read_bytes()"


def peak(told):
    """Peak memory in MB, and the message without it."""
    message, _, kilobytes = told.err.rpartition("PEAK ")
    return int(kilobytes) / 1024, message


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peak memory of a process is told by Linux only")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["long.run", "long.jsonl.gz", "long.jsonl", "long.run.gz"])
def test_a_line_over_64_mb_is_refused_before_all_of_it_is_held(put, folder, process, name):
    """Of a line of 160 MB no more than the limit is ever held.

    The peak is the process's own: what getrusage tells of a child includes its parent's before exec.
    """
    put("good.jsonl", [GOLD])
    put("small.run", LINE + "broken\n")
    put("small.jsonl", jsonl(ANSWERED) + "{\n")
    noise = random.Random(1).randbytes(8 << 10).hex().encode()  # or it unpacks to more than its size warrants
    block = b"a" * (1 << 20) + noise
    with gzip.open(folder / name, "wb", 1) if name.endswith(".gz") else open(folder / name, "wb") as file:
        file.write(b'{"id": "q1", "retrieved": ["' if "jsonl" in name else LINE.encode() + b"q1 Q0 ")
        for _ in range(160):
            file.write(block)
        file.write(b'"]}\n' if "jsonl" in name else b" 2 1.0 t\n")
    alike = "small.jsonl" if "jsonl" in name else "small.run"
    small, _ = peak(process("score", "good.jsonl", alike, code=COMMAND))
    told = process("score", "good.jsonl", name, code=COMMAND)
    large, message = peak(told)
    assert told.code == 2
    assert message.startswith(f"karat: {name} line {1 if 'jsonl' in name else 2}: the line is longer than 64 MB")
    assert message.count("\n") == 1
    assert large < small + 110
    if name == "long.run":
        bare, _ = peak(process(alike, code=HOLDING))
        assert peak(process(name, code=HOLDING))[0] > bare + 150  # the way of measuring sees a line that is held
