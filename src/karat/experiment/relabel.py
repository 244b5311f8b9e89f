"""Relabelling: the gold of a test set with what people marked, and the scores of it beside those without."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from karat.core.errors import UsageError
from karat.core.run import Run
from karat.core.text.normalise import normalise
from karat.core.text.words import names, plural
from karat.core.types import Gold, Question, TestSet
from karat.io.pages import pages_of, shift
from karat.match import FileNames, Resolution
from karat.results.evaluation import Evaluation, Note
from karat.results.marks import Mark, MarkedHit, Marks, ScoresWithLabels, ScoreWithLabels

if TYPE_CHECKING:
    from karat.core.models import Models
    from karat.experiment.settings import Choices

OTHER_QUESTION = "of questions that this test set does not have"
CHANGED_QUESTION = "of questions that read otherwise in this test set"
EVEN = "of hits on which people are evenly divided"
UNNAMED = "of hits of which that is not known by which the gold is named ({})"
PART = "not gold of hits that are a part of what the gold names, or hold it"
HIGHER = "of a higher grade than the gold that the hit is a part of, or holds"
_WHOLE = ("page", "url", "doc", "span")


@dataclass(frozen=True, kw_only=True)
class RelabelledTestSet:
    """A test set with the gold that labels make, and what became of each label."""

    testset: TestSet
    place: str
    standing: tuple[Mark, ...]
    applied: tuple[Mark, ...]
    changed: tuple[str, ...]  # questions whose gold changed
    bad: tuple[str, ...]  # questions that most people who marked them call bad
    left_out: tuple[str, ...]
    unused: Mapping[str, int]  # why -> labels
    torn: bool = False

    def notes(self, bad: str = "still counted: --without-bad leaves them out") -> list[Note]:
        """What was applied, and what was not; `bad` is what becomes of questions marked bad that are not left out."""
        people = list(dict.fromkeys(mark.by for mark in self.applied))
        by = f" by {names(people)}" if people else ""
        changed = f"{'they change' if len(self.applied) != 1 else 'it changes'} the gold of "
        texts = [f"labels: {plural(len(self.applied), 'label')} of hits applied{by}; {changed}"
                 f"{plural(len(self.changed), 'question')}."]  # fmt: skip
        notes = [Note("info", texts[0])]
        for why, n in self.unused.items():
            notes.append(Note("warning", f"labels: {plural(n, 'label')} not applied: {why}."))
        if self.bad:
            verb = "is" if len(self.bad) == 1 else "are"
            what = "left out with the labels" if self.left_out else bad
            notes.append(
                Note("warning", f"labels: {plural(len(self.bad), 'question')} {verb} marked bad and {what}: "
                                f"{names(self.bad)}.")
            )  # fmt: skip
        if self.torn:
            notes.append(Note("warning", f"{self.place}: its last line is not whole and was left out."))
        return notes


def refuse_alone(labels: object, without_bad: bool) -> None:
    """Refuse to leave out what nobody marked."""
    if without_bad and labels is None:
        raise UsageError("--without-bad is about questions marked bad. Name the labels: --labels labels.jsonl.")


def relabelled(testset: TestSet, marks: Marks, *, without_bad: bool = False, page_offset: int = 0) -> RelabelledTestSet:
    """The test set with the gold that most people who marked a hit agree on.

    Of an even division nothing is applied. A hit becomes gold in the way in which the gold of its question is named;
    `page_offset` is added to the page numbers of hits.
    """
    unused: Counter[str] = Counter()
    known: dict[str, list[Mark]] = {}
    digests: dict[str, str] = {}
    ids = set(testset.ids)
    for mark in marks.standing:
        if mark.question not in ids:
            unused[OTHER_QUESTION] += 1
        elif not _is_same(mark, testset, digests):
            unused[CHANGED_QUESTION] += 1
        else:
            known.setdefault(mark.question, []).append(mark)
    default = next((how for gold in testset.golds[:1] if (how := naming(gold))), "id")
    called = _called(testset, marks.standing)
    golds: dict[str, tuple[Gold, ...]] = {}
    applied: list[Mark] = []
    bad: list[str] = []
    for id_, own in known.items():
        votes = [mark.value == "bad" for mark in own if mark.kind == "question"]
        if sum(votes) * 2 > len(votes):
            bad.append(id_)
        by_hit: dict[tuple[str | None, ...], list[Mark]] = {}
        for mark in own:
            if mark.kind == "hit":
                by_hit.setdefault(mark.thing, []).append(mark)
        gold = before = testset[id_].gold if by_hit else ()
        how = next((naming(one) for one in before), default)
        decided = [(_majority([mark.grade or 0 for mark in same]), same) for same in by_hit.values()]
        # hits may be parts of one unit, which has the highest grade, in whatever order they were marked
        for grade, same in sorted(decided, key=lambda one: (-(one[0] or 0), str(one[1][0].thing))):
            hit = same[0].hit
            assert hit is not None  # of a mark of a hit
            reason = EVEN if grade is None else None
            if grade is not None:
                found = replace(hit, doc=called.get(hit.doc or "", hit.doc), page=_pages(hit.page, page_offset))
                gold, reason = _with(gold, found, grade, how)
            if reason is not None:
                unused[reason] += len(same)
            else:
                applied += same
        if gold != before:
            golds[id_] = gold
    left_out = tuple(bad) if without_bad else ()
    if len(left_out) == len(testset):
        raise UsageError("every question is marked bad: --without-bad leaves nothing to score.")
    return RelabelledTestSet(
        testset=_replaced(testset, golds, set(left_out)), place=marks.place, standing=marks.standing,
        applied=tuple(applied),
        changed=tuple(golds), bad=tuple(bad), left_out=left_out, unused=dict(unused), torn=marks.torn,
    )  # fmt: skip


def _called(testset: TestSet, marks: Sequence[Mark]) -> Mapping[str, str]:
    """The file of each marked hit as the gold calls it: under another name it would be another file."""
    docs = list(dict.fromkeys(mark.hit.doc for mark in marks if mark.hit is not None and mark.hit.doc))
    golds = [gold for gold in testset.golds if gold.doc] if docs else []
    files = FileNames(golds, [replace(Run.from_lists("labels", {"": docs}), fields={"doc": docs})])
    names: dict[str, str] = {}
    for gold in golds:
        names.setdefault(files.of(gold.doc), gold.doc or "")
    return {doc: names[file] for doc in docs if (file := files.of(doc)) in names}


def _is_same(mark: Mark, testset: TestSet, digests: dict[str, str]) -> bool:
    """Whether a mark is of a question as it stands here: by the question's digest, else by that of all."""
    from karat.experiment.review import digest_of

    if mark.testset == testset.digest or (mark.digest is None and mark.testset is None):
        return True
    if mark.digest is None:
        return False
    if mark.question not in digests:
        digests[mark.question] = digest_of(testset[mark.question])
    return mark.digest == digests[mark.question]


def _majority(grades: Sequence[int]) -> int | None:
    """0 where most say that a hit is no gold, the middle grade of those who say it is; None where they are even."""
    gold = sorted(grade for grade in grades if grade)
    if len(gold) * 2 == len(grades):
        return None
    return gold[(len(gold) - 1) // 2] if len(gold) * 2 > len(grades) else 0


def naming(gold: Gold) -> str:
    """By what an entry names its unit: the finest thing that a hit can name too."""
    return next(name for name in ("quote", "id", "chunk", "span", "page", "url", "doc", "id")
                if getattr(gold, name) is not None or name == "doc")  # fmt: skip


def _with(gold: tuple[Gold, ...], hit: MarkedHit, grade: int, how: str) -> tuple[tuple[Gold, ...], str | None]:
    """Gold with a hit of this grade, or why it cannot have it."""
    same = [entry for entry in gold if _is_unit(entry, hit)]
    holds = [entry for entry in gold if entry.grade > 0 and entry not in same and _holds(hit, entry)]
    if same:
        return tuple(replace(entry, grade=grade) if entry in same else entry for entry in gold), None
    if holds:
        return gold, PART if not grade else HIGHER if grade > max(entry.grade for entry in holds) else None
    if how in _WHOLE and not grade:
        return gold, PART
    unit = _unit(hit, grade, how)
    return (gold, UNNAMED.format(how)) if unit is None else ((*gold, unit), None)


def _unit(hit: MarkedHit, grade: int, how: str) -> Gold | None:
    """A hit as gold, named as other gold is; None where that is not known of it."""
    if how == "id":
        return Gold(id=hit.id, grade=grade)
    if how == "chunk":
        return Gold(chunk=hit.id, doc=hit.doc, grade=grade)
    if how == "quote":
        return Gold(doc=hit.doc, quote=hit.quote, grade=grade) if hit.quote else None
    if how == "page":
        page = (hit.page or "").partition(",")[0]
        return Gold(doc=hit.doc, page=page, grade=grade) if hit.doc and page else None
    return Gold(doc=hit.doc, grade=grade) if how == "doc" and hit.doc else None


def _is_unit(gold: Gold, hit: MarkedHit) -> bool:
    """Whether an entry names just this hit."""
    if gold.quote is not None:
        return bool(hit.quote) and gold.doc in (None, hit.doc) and _words(gold.quote) == _words(hit.quote or "")
    if gold.id is not None:
        return gold.id == hit.id
    return gold.chunk == hit.id and (gold.doc is None or hit.doc in (None, gold.doc))


def _holds(hit: MarkedHit, gold: Gold) -> bool:
    """Whether a hit is a part of what an entry names, or has it in its text."""
    if gold.doc is not None and hit.doc is not None and gold.doc != hit.doc:
        return False
    if gold.quote is not None:
        return f" {_words(gold.quote)} " in f" {_words(hit.quote or '')} "
    if gold.id is not None or gold.chunk is not None or gold.doc is None or hit.doc is None:
        return False
    return gold.page is None or not {*pages_of(gold.page)}.isdisjoint((hit.page or "").split(","))


def _pages(listed: str | None, offset: int) -> str:
    """The pages of a hit as the gold counts them, one by one."""
    return ",".join(shift(page, offset) for one in (listed or "").split(",") for page in pages_of(one))


def _words(text: str) -> str:
    return normalise(text, "words")


def _replaced(testset: TestSet, golds: Mapping[str, tuple[Gold, ...]], left_out: set[str]) -> TestSet:
    """The test set with other gold; one of nothing but ids stays so."""
    name = f"{testset.name} with labels"
    if testset.is_plain:
        qrels = {
            id_: {gold.label: gold.grade for gold in golds[id_]} if id_ in golds else row
            for id_, row in (testset.qrels or {}).items()
            if id_ not in left_out
        }
        return TestSet(qrels=qrels, name=name, norm=testset.norm)

    def changed() -> Iterator[Question]:
        for question in testset:
            if question.id not in left_out:
                yield replace(question, gold=golds[question.id]) if question.id in golds else question

    return testset.with_questions(changed(), name)


def with_labels(
    evaluation: Evaluation,
    runs: Sequence[Run],
    choices: Choices,
    labels: str | os.PathLike[str],
    *,
    without_bad: bool,
    models: Models,
    resolve: Callable[[TestSet, Choices], Resolution | None],
) -> Evaluation:
    """An evaluation with the scores beside it that labels would make of its measures of retrieval."""
    from karat.experiment.measuring import measure_runs
    from karat.files import read_marks
    from karat.stats.summary import summarise

    before = evaluation.testset
    offset = choices.matching.page_offset
    marked = relabelled(before, read_marks(labels), without_bad=without_bad, page_offset=offset)
    measures = [measure for measure in evaluation.scores.measures if measure.spec.stage == "retrieval"]
    notes = marked.notes()
    if len(measures) < len(evaluation.scores.measures):
        notes.append(Note("info", "labels: measures of answers are not computed again, and stand as they are."))
    rows: list[ScoreWithLabels] = []
    if measures and (marked.changed or marked.left_out):
        asked = [run for run in runs if run.name in evaluation.scores.systems]
        matcher = evaluation.matching.matcher if evaluation.matching is not None else ""
        match = (
            matcher if matcher and ", " not in matcher else choices.matching.match
        )  # gold that is added chooses none
        chosen = replace(choices, matching=replace(choices.matching, match=match, allow_zero_overlap=True))
        resolutions = [resolve(marked.testset, chosen)] * len(asked)
        scores = measure_runs(marked.testset, asked, measures, chosen, models, resolutions).scores
        after = {(s.system, s.measure): s for s in summarise(scores, intervals=False)}
        rows = [
            ScoreWithLabels(
                system=s.system, measure=s.measure, before=s.mean, after=new.mean, n_before=s.n, n_after=new.n
            )
            for s in evaluation.summaries
            if s.slice is None and (new := after.get((s.system, s.measure))) is not None
        ]  # fmt: skip
    people = tuple(dict.fromkeys(mark.by for mark in marked.applied))
    beside = ScoresWithLabels(
        place=marked.place, labels=len(marked.applied), people=people, changed=len(marked.changed),
        left_out=marked.left_out, rows=tuple(rows),
    )  # fmt: skip
    return replace(evaluation, labelled=beside, notes=(*evaluation.notes, *notes))
