"""Faults planted in known numbers: how many of each the checks find, and how often it finds what is not there.

`pytest -s` prints the table. A fault that is found less surely must stand under "Hard" in
docs/how-to/check-a-test-set.md.
"""

import re
from pathlib import Path

import planted_faults
import planted_world
import pytest

from karat.experiment.demo import demo_files, half_of
from karat.files import as_testset
from karat.systems.index import index
from karat.testset.check import CheckContext
from karat.testset.check_testset import check_testset

pytestmark = pytest.mark.slow
FOUND, FALSE = 0.90, 0.05
NEAR = 0.05  # by how much the page may be off
HERE = Path(__file__)
PAGE = HERE.parents[3] / "docs" / "how-to" / "check-a-test-set.md"


def hard():
    """Faults that the page names as hard, by where they are, with the share that it says is found."""
    section = PAGE.read_text(encoding="utf-8").partition("## Hard")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \| (\d+)% \|", section, re.M)
    return {(fault, where): int(share) / 100 for fault, where, share in rows}


def demo_world(opened, testset):
    questions = list(half_of(testset, "dev"))
    told = {q.id: next((g.quote for g in q.gold if g.quote), "") for q in questions}
    return planted_world.World("en", list(opened.chunks), questions, told, docs=list(opened.docs))


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    with demo_files() as folder:
        opened = index(folder / "docs", tmp_path_factory.mktemp("demo") / "demo.index", engines="bm25")
        return opened, as_testset(folder / "questions.jsonl", columns={})[0]


def flagged(found):
    """Ids by check."""
    ids = {}
    for finding in found.findings:
        assert "failed" not in finding.title, finding.text
        ids.setdefault(finding.check, set()).update(finding.questions)
    return ids


def rates(worlds, each):
    """fault -> (planted, found, clean, false alarms) over several worlds."""
    total = {fault: [0, 0, 0, 0] for fault in planted_faults.FAULTS}
    for seed, made in enumerate(worlds):
        planted, clean = planted_faults.plant(made, seed, each)
        seen = flagged(check_testset(CheckContext(made.testset, made.table, made.docs)))
        for fault, (_, check, _) in planted_faults.FAULTS.items():
            ids = seen.get(check, set())
            row = total[fault]
            row[0] += len(planted[fault])
            row[1] += len(planted[fault] & ids)
            row[2] += len(clean)
            row[3] += len(clean & ids)
    return total


def judged(where, total, least):
    """Prints the table, and holds every fault to the promise or to the list of hard ones."""
    known, broken = hard(), []
    print(f"\n{where}: fault, planted, found, clean, false alarms")
    for fault, (planted, found, clean, false) in total.items():
        if not planted:
            continue  # has no place in this corpus
        print(f"  {fault:32} {planted:4} {found / planted:6.1%} {clean:5} {false / clean:6.1%}")
        assert planted >= least, fault
        kept = found >= FOUND * planted and false < FALSE * clean
        said = known.pop((fault, where), None)
        if kept != (said is None) or (said is not None and abs(said - found / planted) > NEAR):
            broken.append((fault, where, found / planted, false / clean, said))
    assert broken == []
    assert [place for place in known if place[1] == where] == []


def test_in_english_sheets():
    judged("English", rates([planted_world.world(seed, docs=48) for seed in range(3)], 14), 40)


def test_in_russian_sheets():
    judged("Russian", rates([planted_world.world(seed, "ru", docs=60) for seed in range(3)], 14), 40)


def test_in_the_demo(demo):
    opened, testset = demo
    judged("demo", rates([demo_world(opened, testset) for _ in range(8)], 4), 30)


def test_holes_in_the_coverage():
    found = planted = false = rest = 0
    for seed in range(8):
        made = planted_world.world(seed, docs=16, per_doc=4)
        gone, kept = planted_world.with_holes(made, seed, 5)
        (finding,) = (
            f
            for f in check_testset(CheckContext(made.testset, made.table), only=["coverage"]).findings
            if "no question" in f.title
        )
        named = {example.partition(":")[0] for example in finding.examples}
        planted, rest = planted + len(gone), rest + len(kept)
        found, false = found + len(gone & named), false + len(kept & named)
    print(f"\ncoverage hole: planted {planted}, found {found / planted:.1%}, false alarms {false / rest:.1%}")
    assert planted >= 40
    assert found >= FOUND * planted
    assert false < FALSE * rest
