"""Check the demo's questions against the demo's documents, and say what they are made of.

    python demo/check_questions.py [--write-halves]

Every quote has to stand, word for word, on the page its gold names and nowhere else in the corpus unless that place
is gold too. Paraphrase and scenario questions share no content word with their gold. The halves, `dev` and `test`,
are drawn within each kind by a fixed seed. Nothing here searches: the questions were written from the text.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pypdfium2
import Stemmer
from karat.core.text.languages import stop_words
from selectolax.lexbor import LexborHTMLParser

from karat.core.text.normalise import tokenise

FOLDER = Path(__file__).resolve().parents[1] / "src" / "karat" / "experiment" / "_demo"
DOCS = FOLDER / "docs"
QUESTIONS = FOLDER / "questions.jsonl"
SEED = "orrinsund-31"
KINDS = (
    "factual",
    "numerical",
    "abbreviation",
    "procedural",
    "listing",
    "comparative",
    "multi_hop",
    "paraphrase",
    "scenario",
    "unanswerable",
)
WORDLESS_KINDS = ("paraphrase", "scenario")
AT_LEAST = 10
QUOTE_WORDS = (5, 40)

Row = dict[str, Any]


def plain(text: str) -> str:
    """Text with every run of white space as one space."""
    return " ".join(text.split())


def markdown_text(source: str) -> str:
    """What a reader sees of a Markdown page: no front matter, no markup characters."""
    body = re.sub(r"\A---\n.*?\n---\n", "", source, flags=re.S)
    body = re.sub(r"(?m)^\|[-| ]+\|$", "", body)
    return plain(re.sub(r"(?m)^#+ |[*|`]", " ", body))


def html_text(source: str) -> str:
    """What a reader sees of an HTML page, navigation and footer included."""
    tree = LexborHTMLParser(source)
    tree.strip_tags(["script", "style", "head"])
    assert tree.body is not None
    return plain(tree.body.text(separator=" "))


def address(source: str) -> str:
    """The url a Markdown or HTML page gives itself."""
    found = re.search(r'^url: (\S+)$|rel="canonical" href="([^"]+)"', source, re.M)
    assert found is not None
    return found[1] or found[2]


@cache
def corpus(docs: Path = DOCS) -> dict[tuple[str, str], str]:
    """The text of every place gold can name: (document, page or url)."""
    places: dict[tuple[str, str], str] = {}
    for path in sorted(p for p in docs.rglob("*") if p.is_file()):
        name = path.relative_to(docs).as_posix()
        if path.suffix == ".pdf":
            with pypdfium2.PdfDocument(path) as pdf:
                for number in range(len(pdf)):
                    places[name, str(number + 1)] = plain(pdf[number].get_textpage().get_text_range())
        else:
            source = path.read_text(encoding="utf-8")
            places[name, address(source)] = (markdown_text if path.suffix == ".md" else html_text)(source)
    return places


def content_words(text: str) -> set[str]:
    """Stems of the words that are not stop words."""
    words = [word for word in tokenise(text.replace("-", " "), "words") if word not in stop_words("en", "words")]
    return set(Stemmer.Stemmer("english").stemWords(words))


def shared_words(row: Row) -> set[str]:
    """Content words that a question shares with the quotes of its gold."""
    quotes = (content_words(gold["quote"]) for gold in row["gold"])
    return content_words(row["question"]) & set().union(*quotes)


def halves(rows: list[Row]) -> dict[str, str]:
    """`dev` or `test` for each id: within a kind the ids in the order of their seeded hash, cut in the middle."""
    by_kind: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        by_kind[row["kind"]].append(row["id"])
    half: dict[str, str] = {}
    for ids in by_kind.values():
        drawn = sorted(ids, key=lambda qid: hashlib.sha256(f"{SEED}:{qid}".encode()).digest())
        half.update((qid, "dev" if n < len(drawn) / 2 else "test") for n, qid in enumerate(drawn))
    return half


def read(path: Path = QUESTIONS) -> list[Row]:
    """The questions as they stand in the file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _gold_problems(row: Row) -> list[str]:
    found: list[str] = []
    named = {(g["doc"], g.get("page") or g.get("url")) for g in row["gold"]}
    for gold in row["gold"]:
        place = (gold["doc"], gold.get("page") or gold.get("url"))
        quote = gold["quote"]
        held = {at for at, text in corpus().items() if quote in text}
        if quote != plain(quote):
            found.append(f"white space in {quote!r}")
        if place not in corpus():
            found.append(f"no such place: {place}")
        elif place not in held:
            found.append(f"not on {place}, but on {sorted(held) or 'no page'}: {quote!r}")
        if held - named:
            found.append(f"also on {sorted(held - named)}: {quote!r}")
        if any(text.count(quote) > 1 for text in corpus().values()):
            found.append(f"twice on a page: {quote!r}")
        if not QUOTE_WORDS[0] <= len(quote.split()) <= QUOTE_WORDS[1]:
            found.append(f"{len(quote.split())} words: {quote!r}")
    return found


def problems(rows: list[Row]) -> list[str]:
    """Everything that is wrong with the questions, one line each."""
    found: list[str] = []
    drawn = halves(rows)
    for row in rows:
        bad: list[str] = []
        if row["kind"] not in KINDS:
            bad.append(f"unknown kind {row['kind']}")
        if row["answerable"] == (row["kind"] == "unanswerable") or row["answerable"] != bool(row["gold"]):
            bad.append("answerable, kind and gold disagree")
        if row["answerable"] != (1 <= len(row["answers"]) <= 3):
            bad.append(f"{len(row['answers'])} answers")
        if row["tags"].get("difficulty") not in ("easy", "medium", "hard"):
            bad.append(f"difficulty {row['tags'].get('difficulty')}")
        if row["tags"].get("half") != drawn[row["id"]]:
            bad.append(f"half {row['tags'].get('half')}, drawn {drawn[row['id']]}")
        bad += _gold_problems(row)
        if row["kind"] in WORDLESS_KINDS and shared_words(row):
            bad.append(f"shares {sorted(shared_words(row))} with its gold")
        found += [f"{row['id']}: {what}" for what in bad]
    ids = Counter(row["id"] for row in rows)
    texts = Counter(row["question"].lower() for row in rows)
    found += [f"repeated: {what}" for what, n in (ids + texts).items() if n > 1]
    kinds = Counter(row["kind"] for row in rows)
    found += [f"{kind}: only {kinds[kind]} questions" for kind in KINDS if kinds[kind] < AT_LEAST]
    return found


def _describe(rows: list[Row]) -> None:
    print(
        f"{'kind':14}{'n':>4}{'dev':>5}{'test':>5}{'easy':>5}{'med':>5}{'hard':>5}  words shared with gold, mean share"
    )
    for kind in KINDS:
        mine = [row for row in rows if row["kind"] == kind]
        half = Counter(row["tags"]["half"] for row in mine)
        hard = Counter(row["tags"]["difficulty"] for row in mine)
        shares = [len(shared_words(row)) / max(len(content_words(row["question"])), 1) for row in mine if row["gold"]]
        share = f"{sum(shares) / len(shares):.2f}" if shares else "-"
        counts = (len(mine), half["dev"], half["test"], hard["easy"], hard["medium"], hard["hard"])
        print(f"{kind:14}{counts[0]:4}" + "".join(f"{count:5}" for count in counts[1:]) + f"  {share}")
    gold = [g for row in rows for g in row["gold"]]
    pdf = sum(g["doc"].endswith(".pdf") for g in gold)
    print(f"{len(rows)} questions, {len(gold)} gold entries, {pdf / len(gold):.0%} of them in the PDF")


def main() -> int:
    """Check, describe, and with --write-halves put the drawn halves into the file."""
    rows = read()
    if "--write-halves" in sys.argv[1:]:
        for row in rows:
            row["tags"]["half"] = halves(rows)[row["id"]]
        QUESTIONS.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = problems(rows)
    for line in found:
        print(line, file=sys.stderr)
    _describe(rows)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
