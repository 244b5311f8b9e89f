import json
import time

import pytest

from karat.core.errors import UsageError
from karat.files import Redactor, convert, read_results, read_testset


@pytest.mark.parametrize(
    ("name", "text", "redacted"),
    [
        ("email", "write to bob.smith+x@mail.example.co.uk now", "write to [email] now"),
        ("email", "a@b is none, and @home neither", "a@b is none, and @home neither"),
        ("phone", "+49 (30) 1234-5678, 030/123456, (555) 123-4567", "[phone], [phone], [phone]"),
        ("phone", "on 2024-01-15 at 12:30, 34 pages", "on 2024-01-15 at 12:30, 34 pages"),
        (
            "number",
            "card 4111 1111 1111 1111, customer 123456, room 1234",
            "card [number], customer [number], room 1234",
        ),
        ("number", "1999-2004, 2024-01-15, 3.14159265", "1999-2004, 2024-01-15, 3.14159265"),
        ("key", "sk-abcdefghijklmnop1234 or Bearer abcdefghijklmnop==", "[key] or [key]"),
        ("key", "authorization: bearer abcdefghijklmnop1, glpat-abcdefghij-klmnop", "authorization: [key], [key]"),
        ("phone", "DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00"),
        ("phone", "DE89-3704-0044-0532-0130-00, 030 123456", "DE89-3704-0044-0532-0130-00, [phone]"),
        ("phone", "DE02 0012 3456 7890 1234 56", "DE02 0012 3456 7890 1234 56"),
        ("phone", "in 2024 030 123456, room12 0044 20 7946 0000", "in 2024 [phone], room12 [phone]"),
        (r"K-\d+", "case K-12 and k-12", "case [redacted] and k-12"),
    ],
)
def test_patterns(name, text, redacted):
    assert Redactor([name]).text(text) == redacted


def test_counts_are_said():
    redactor = Redactor(["email", "x"])
    redactor.text("a@b.de and c@d.de, x")
    assert redactor.notes() == ["redacted: 2 [email], 1 [redacted]"]
    assert Redactor(["email"]).notes() == ["redacted: nothing was found"]
    assert Redactor([]).notes() == []


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("emial", "Did you mean email"),
        ("(", "is not valid"),
        ("a*", "everywhere"),
        ("x" * 1001, "too long"),
    ],
)
def test_patterns_that_are_refused(pattern, problem):
    with pytest.raises(UsageError, match=problem):
        Redactor([pattern])


@pytest.mark.slow
def test_a_pattern_that_searches_without_end_is_stopped():
    with pytest.raises(UsageError, match="took more than 1 s"):
        Redactor(["^(a|aa)+$"]).text("a" * 60 + "b")


def test_results_and_test_sets_are_redacted_whole(tmp_path):
    secret = "mail a@b.de"
    rows = [
        {"id": "t1", "question": secret, "retrieved": [{"id": "d1", "text": secret}, {"text": secret}],
         "answer": secret, "contexts": [secret],
         "steps": [{"query": secret, "retrieved": [{"id": "a@b.de", "text": secret}], "tool": "x"}]},
        {"id": "t2", "question": "why", "error": secret},
        {"id": "t3", "question": "how", "retrieved": [], "answer_error": secret},
    ]  # fmt: skip
    path, out = tmp_path / "r.jsonl", tmp_path / "o.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    taken, _, _ = convert(path, out, redact=["email"])
    assert taken.notes[-2:] == (
        "redacted: 9 [email]",
        "1 [email] stays in ids, documents and urls, which are not redacted",
    )
    assert out.read_text().count("a@b.de") == 1  # the id of a hit
    (run,), _ = read_results(out)
    assert run.docs == ["d1", "mail [email]"]
    questions = [{"id": "q1", "question": secret, "answers": [secret], "gold": [{"doc": "d", "quote": secret}]}]
    path.write_text("".join(json.dumps(row) + "\n" for row in questions))
    convert(path, out, redact=["email"])
    assert "a@b.de" not in out.read_text()
    assert read_testset(out)[0].questions[0].gold[0].quote == "mail [email]"


def test_questions_that_are_their_own_ids(tmp_path):
    path, out = tmp_path / "r.jsonl", tmp_path / "o.jsonl"
    rows = [{"question": f"mail {name}@b.de", "retrieved": ["d"]} for name in "ab"]
    path.write_text(json.dumps(rows[0]) + "\n")
    convert(path, out, redact=["email"])
    assert json.loads(out.read_text())["id"] == "mail [email]"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UsageError, match="read alike once they are redacted"):
        convert(path, out, redact=["email"])


def test_what_stays_in_gold_and_hits_is_said(tmp_path):
    path, out = tmp_path / "r.jsonl", tmp_path / "o.jsonl"
    gold = {"id": "1-a@b.de", "doc": "mail/a@b.de/x.eml", "url": "https://h/a@b.de"}
    said = "[email] stay in ids, documents and urls, which are not redacted"
    path.write_text(json.dumps({"id": "q1", "question": "who?", "gold": [gold]}) + "\n")
    assert convert(path, out, redact=["email"])[0].notes[-1] == f"3 {said}"
    path.write_text(json.dumps({"id": "t-c@d.de", "question": "who?", "retrieved": [gold]}) + "\n")
    assert convert(path, out, redact=["email"])[0].notes[-1] == f"4 {said}"
    assert Redactor(["email"]).notes() == ["redacted: nothing was found"]


def test_telephone_numbers_are_found_in_linear_time():
    for text in ("0044 " * 40_000, "DE89 3704 " * 20_000, "+49 " + "1 " * 100_000):
        started = time.perf_counter()
        Redactor(["phone"]).text(text)
        assert time.perf_counter() - started < 3
