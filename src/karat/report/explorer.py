"""Explorer: the data from which a page's script shows any question with what each system found and answered."""

from __future__ import annotations

import json
from typing import Any

from karat.core.conversation import messages_of
from karat.core.docs import Chunk
from karat.core.scores import Status
from karat.core.text.words import clean, excerpt, plural
from karat.core.types import Gold, Question
from karat.report.explored_answers import ANSWER, PASSAGE, answer_entry, plain, wording
from karat.report.labels import LABELS
from karat.report.lookups import WORST_ANSWERS, StudyView, statuses
from karat.results.study import StudyHit

LEAST = 400_000  # bytes that hits and texts may take, however large the rest is
SAID = 0.3  # share of them for the words of one system's answers, and for what is known of those
HITS = 0.45  # share of them for hits and answers where texts would take all
COLUMNS = 6  # measures of a question
MESSAGES = 20  # of the earlier turns of a question, the last
SHORTEST = 120  # characters that a text is never cut below


def worst_of(view: StudyView) -> dict[str, Any]:
    """By which measure, and by rank of the system its worst answers, as question and score."""
    answers = view.answers
    if answers.quality is None:
        return {}
    lists = [
        [view.ranking.index(system), [[q, round(value, 4)] for q, value in answers.worst(system, WORST_ANSWERS)]]
        for system in answers.ranked(view.best)
    ]
    return {"measure": answers.quality.name, "lists": [one for one in lists if one[1]]}


def pack(view: StudyView, room: int) -> dict[str, Any]:
    """All that the explorer shows, each chunk once; systems by rank while there is room, then texts.

    `room` is in bytes; questions and scores of a page are whole even where they take all of it.
    """
    asked, view = len(view.number_of), view.page
    study, scores = view.study, view.evaluation.scores
    whole = {
        "systems": [clean(s) for s in view.ranking],
        "measures": [m.name for m in view.key_measures[:COLUMNS]],
        "higher": view.main is None or view.main.spec.direction != "lower",
        "k": study.k,
        "labels": {name: [label.title, label.meaning] for name, label in LABELS.items()},
        "questions": [_question(q) for q in view.evaluation.testset],
        "scores": _scores(view),
        "failed": _failed(view),
        "answer_measures": [m.name for m in view.answers.measures],
        "worst": worst_of(view),
    }
    room = max(room - _size(whole), LEAST)
    systems = [s for s in view.ranking if s in study.hits or s in view.answers.systems]
    pool = _HitPool(list(scores.questions))
    entries: list[dict[str, Any]] = []
    used = 0
    for system in systems:
        entry = _entry(view, system, pool, int(room * SAID))
        used += _size(entry)
        if entries and used + pool.size > pool.left(room):
            break
        entries.append({"system": view.ranking.index(system), **entry})
    notes = []
    if len(scores.questions) < asked:
        best, shown = clean(view.ranking[0]), len(scores.questions)
        notes.append(
            f"{shown:,} of {asked:,} questions are kept here: those that {best} fails first, "
            "then the hardest. All are in rows.parquet, and karat show RUN QUESTION shows any of them."
        )
    if 0 < len(entries) < len(view.ranking):
        of = plural(len(view.ranking), "system")
        notes.append(f"Hits are kept here for {len(entries):,} of {of}; all are in rows.parquet.")
    cut, chunks = _chunks(pool, room - min(used + pool.size, pool.left(room)))
    if cut is not None:
        notes.append(
            f"Long texts are cut after {plural(cut, 'character')}, those with gold last, to keep this page small."
        )
    if any(entry["shortened"] for entry in entries):
        notes.append(
            f"Contexts and verdicts are kept for the {WORST_ANSWERS} worst answers of a system; "
            "all are in results.json."
        )
    if not entries:
        notes.append("The hits of this run were not kept.")
    return {**whole, "found": entries, "pools": pool.pools, "chunks": chunks, "said": notes}


class _HitPool:
    """Chunks once each, and once for each question what was found of them and how."""

    def __init__(self, questions: list[str]) -> None:
        self.questions = questions
        self.chunks: list[Chunk] = []
        self.pools: list[list[Any]] = [[] for _ in questions]
        self.size = 0  # of the pools, in bytes
        self.words = 0  # of the texts
        self._chunk: dict[tuple[str, str], int] = {}
        self._place: list[dict[Any, int]] = [{} for _ in questions]
        self._context: list[dict[tuple[str, str | None], int]] = [{} for _ in questions]

    def chunk(self, chunk: Chunk) -> int:
        place = self._chunk.setdefault((chunk.id, chunk.text), len(self.chunks))
        if place == len(self.chunks):
            self.chunks.append(chunk)
            self.words += _size([chunk.text, *_head(chunk)])
        return place

    def left(self, room: int) -> int:
        """What hits may take: what whole texts leave, and their share in any case."""
        return max(int(room * HITS), room - self.words)

    def hit(self, question: int, hit: StudyHit) -> int:
        """Where a hit stands in its question's pool."""
        pool, chunk = self.pools[question], self.chunk(hit.chunk)
        place = self._place[question].setdefault((chunk, hit.holds, *hit.legs.items()), len(pool))
        if place == len(pool):
            legs = {clean(leg): [rank, _short(score)] for leg, (rank, score) in hit.legs.items()}
            pool.append([chunk, [clean(unit, 300) for unit in hit.holds], legs])
            self.size += _size(pool[-1])
            for text in (hit.chunk.text, None):
                self._context[question].setdefault((hit.chunk.id.strip(), text), place)
        return place

    def context(self, question: int, id_: str, text: str | None) -> int | None:
        """Where a context stands in its question's pool, among the hits or beside them; None: its words are unknown."""
        place = self._context[question].get((id_.strip(), text))
        if place is None and text is not None:
            place = self.hit(question, StudyHit(0, None, Chunk(id_, "", text)))
        return place


def _entry(view: StudyView, system: str, pool: _HitPool, room: int) -> dict[str, Any]:
    """What a system found and answered: per question the places of its hits in the pool, and their scores.

    The words of its answers take `room` bytes at most, and so does what is known of them.
    """
    lists_of = view.study.hits.get(system, {})
    lists: list[Any] = []
    for number, id_ in enumerate(pool.questions):
        row: list[Any] = []
        for place, hit in enumerate(lists_of.get(id_, ()), 1):
            row.append([pool.hit(number, hit), _short(hit.score), *([hit.rank] if hit.rank != place else [])])
        lists.append(row if id_ in lists_of else None)
    details = {
        str(number): plain(failure.detail)
        for number, id_ in enumerate(pool.questions)
        if (failure := view.failure_of.get((system, id_))) is not None
    }
    return {"hits": lists, "details": details, **_answers(view, system, pool, room)}


def _answers(view: StudyView, system: str, pool: _HitPool, room: int) -> dict[str, Any]:
    """The words of a system's answers, and by question what is known of each; of the worst alone where all is much."""
    answers = view.answers
    if system not in answers.systems:
        return {"answers": None, "said": {}, "shortened": False}
    own = [answers.of(system, id_) for id_ in pool.questions]
    words = [wording(a.text) if a is not None else None for a in own]
    if _size(words) > room:
        most = _cut([w for w in words if w], room)
        words = [wording(a.text, min(most, ANSWER)) if a is not None else None for a in own]
    wanted = [q for q, answer in enumerate(own) if answer is not None]
    rough = sum(_size(answer_entry(answers, system, q, _EmptyPool())) for q in wanted)
    shortened = rough > room
    if shortened:
        wanted = [q for q, _ in answers.worst(system, WORST_ANSWERS)]
    return {
        "answers": words,
        "said": {str(q): answer_entry(answers, system, q, pool) for q in wanted},
        "shortened": shortened,
    }


class _EmptyPool:
    """A pool that keeps nothing, for measuring."""

    def context(self, question: int, id_: str, text: str | None) -> int | None:
        return 0


def _chunks(contexts: _HitPool, room: int) -> tuple[int | None, list[list[Any]]]:
    """The chunks as rows, their texts cut alike where all would be too much; those that hold gold whole if they can."""
    texts = [plain(chunk.text) for chunk in contexts.chunks]
    heads = [_head(chunk) for chunk in contexts.chunks]
    sizes = [len(t.encode()) for t in texts]
    room -= sum(map(_size, heads))
    cut, whole = None, set[int]()
    if sum(sizes) > room:
        golden = {chunk for pool in contexts.pools for chunk, holds, _ in pool if holds}
        spent = sum(sizes[i] for i in golden)
        whole = golden if spent <= room // 2 else set()
        cut = _cut([t for i, t in enumerate(texts) if i not in whole], room - (spent if whole else 0))
    rows = []
    for i, (head, text) in enumerate(zip(heads, texts, strict=True)):
        end = len(text) if cut is None or i in whole else cut
        rows.append([*head, text[:end], len(text) if len(text) > end else 0])
    return cut, rows


def _cut(texts: list[str], room: int) -> int:
    """The most characters of each text that fit together."""
    low, high = SHORTEST, max(map(len, texts), default=SHORTEST)
    while low < high:
        middle = (low + high + 1) // 2
        total = sum(len(t[:middle].encode()) for t in texts)
        low, high = (middle, high) if total <= room else (low, middle - 1)
    return low


def _head(chunk: Chunk) -> list[str]:
    """All of a chunk but its text."""
    named = (chunk.id, chunk.doc, chunk.title or "", chunk.url or "")
    return [*map(clean, named), _pages(chunk)]


def _pages(chunk: Chunk) -> str:
    """The pages a chunk stands on, and what is printed on them where that differs."""
    counted_, printed = ", ".join(map(str, chunk.pages)), ", ".join(map(clean, chunk.labels))
    return f"{counted_} (printed {printed})" if printed and printed != counted_ and counted_ else counted_ or printed


def _question(question: Question) -> dict[str, Any]:
    row: dict[str, Any] = {"id": clean(question.id), "text": plain(question.text)}
    if question.kind is not None:
        row["kind"] = clean(question.kind)
    if question.answers:
        row["answers"] = [plain(a) for a in question.answers]
    if question.gold:
        row["gold"] = [_gold(g) for g in question.gold]
    if question.tags:
        row["tags"] = {clean(name): clean(value) for name, value in question.tags.items()}
    if question.history:
        messages = messages_of(question.history)[-MESSAGES:]
        row["past"] = [[one["role"], excerpt(plain(one["content"]), PASSAGE)] for one in messages]
    if not question.answerable:
        row["unanswerable"] = True
    return row


def _gold(gold: Gold) -> list[Any]:
    """Where the unit is and its grade, then its words."""
    place = gold.label if gold.quote is None or gold.id or gold.chunk else gold.url or gold.doc or ""
    if gold.page is not None and gold.quote is not None:
        place = f"{place} page {gold.page}".strip()
    return [clean(place), gold.grade, *([plain(gold.quote)] if gold.quote else [])]


def _scores(view: StudyView) -> list[list[list[Any]]]:
    """By rank of the system, by question: a value a measure, or why there is none."""
    scores, status = view.evaluation.scores, statuses(view.evaluation.scores)
    column = {m.name: i for i, m in enumerate(scores.measures)}
    places = [column[m.name] for m in view.key_measures[:COLUMNS]]
    number = {s: i for i, s in enumerate(scores.systems)}

    ok, rounded = (status == Status.ok).tolist(), scores.values.round(4).tolist()

    def value(s: int, q: int, m: int) -> Any:
        if ok[s][q][m]:
            return rounded[s][q][m]
        return f"{Status(int(status[s, q, m])).name}: {clean(scores.reason(s, q, m) or 'no value', 200)}"

    return [
        [[value(number[system], q, m) for m in places] for q in range(len(scores.questions))] for system in view.ranking
    ]


def _failed(view: StudyView) -> list[dict[str, str]]:
    """By rank of the system: the label of each question that failed."""
    labels: dict[str, dict[str, str]] = {s: {} for s in view.ranking}
    for failure in view.study.failures:
        if failure.system in labels and failure.question in view.number_of:
            labels[failure.system][str(view.number_of[failure.question])] = failure.label
    return list(labels.values())


def _short(value: float | None) -> float | None:
    return None if value is None or value != value or abs(value) == float("inf") else float(f"{value:.5g}")


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
