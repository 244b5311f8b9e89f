"""Answering: the hits of every system handed to an answerer; the same contexts are answered once, and journaled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from karat.answer import Answerer, AnswererSettings, answerer_named
from karat.core.asked import AnswerRequest, Context
from karat.core.errors import UsageError
from karat.core.lazy import Lazy
from karat.core.progress import Progress
from karat.core.ranked import ranking
from karat.core.types import Answer, TestSet
from karat.experiment._answered import contexts_of
from karat.experiment._limited import answered_ids, gold_of, unasked
from karat.experiment.block_stages import answer_of, plain_answer
from karat.experiment.blocks import BlockWork
from karat.results.evaluation import Note

if TYPE_CHECKING:
    from karat.core.models import Models
    from karat.core.run import Run
    from karat.experiment.spec import AnswerKeys, Spec
    from karat.experiment.store import Journal
    from karat.experiment.study import StudySystem
    from karat.match import Resolution
    from karat.systems.outside import CallSettings, HttpSettings


@dataclass(frozen=True, slots=True)
class _AnswerPiece:
    """What one system is asked of one question, by its number, and under which key its answer is known."""

    system: int
    question: int
    key: str


class _SystemRequests:
    """What an answerer is asked of the hits of a system: texts are looked up when a request is made, each time anew."""

    def __init__(self, number: int, system: StudySystem, testset: TestSet, contexts: int) -> None:
        self._run, self._resolution, self._questions = system.run, system.resolution, testset.questions
        number_of = {qid: q for q, qid in enumerate(testset.ids)}
        order, offsets = ranking(self._run), self._run.offsets
        self._hits = {
            number_of[qid]: order[int(offsets[place]) : int(offsets[place + 1])][:contexts].copy()
            for place, qid in enumerate(self._run.question_ids)
            if qid in number_of and qid not in self._run.failed
        }
        self.number = number

    def pieces(self, others: Container[str]) -> Iterator[_AnswerPiece]:
        """One for each question that the system has a list for, but for the `others`."""
        for question in self._hits:
            if self._questions[question].id not in others:
                yield _AnswerPiece(self.number, question, _key(self.make(question)))

    def make(self, question: int) -> AnswerRequest:
        """What is asked of a question, by its number in the test set."""
        asked = self._questions[question]
        given = tuple(_context(self._run, place, self._resolution) for place in self._hits[question].tolist())
        return AnswerRequest(asked.id, asked.text, given, asked.history)


def answers_for(
    spec: Spec, systems: Sequence[StudySystem], testset: TestSet, models: Models, **more: Any
) -> tuple[list[StudySystem], list[Note]]:
    """The systems with answers by whom a spec names; as they are where it names nobody. `more`: see `answer_all`."""
    settings = spec.answerer
    if settings is None:
        return list(systems), []
    with _answerer(spec, settings, models) as answerer:
        wanted = spec.answered_systems
        answer = spec.keys.answer
        assert answer is not None
        return answer_all(
            systems, testset, answerer, settings.contexts, only=wanted, limit=answer.limit, seed=spec.keys.seed,
            **more,
        )  # fmt: skip


@contextmanager
def _answerer(spec: Spec, settings: AnswererSettings, models: Models) -> Iterator[Answerer]:
    """One of karat's answerers, or a function or an endpoint that answers."""
    from karat.systems.outside import answerer_outside

    answer = spec.keys.answer
    assert answer is not None
    if settings.name.partition(":")[0] in ("call", "http"):
        outside = outside_settings(settings.name, answer, spec)
        with answerer_outside(settings, outside, spec.keys.budgets.max_failures) as answerer:
            yield answerer
    else:
        named = answerer_named(settings, models)
        yield models.blocks.answerer(named, settings, models) if isinstance(models.blocks, BlockWork) else named


def outside_settings(name: str, keys: AnswerKeys, spec: Spec) -> CallSettings | HttpSettings:
    """The function that `call:module:function` names, or the endpoint of `http:URL` or of the keys of karat.yaml."""
    from karat.systems.outside import ANSWER_BODY, ANSWER_PATH, CallSettings, HttpSettings

    kind, _, target = name.partition(":")
    budgets, http = spec.keys.budgets, keys.http
    seconds, jobs = keys.timeout_seconds or budgets.timeout_seconds, keys.jobs or budgets.jobs
    if kind == "call":
        if ":" not in target:
            raise UsageError(f"{name!r} names no function. Write call:MODULE:FUNCTION.")
        return CallSettings(target, spec.folder, seconds, jobs or 1)
    if http is not None:
        body = ANSWER_BODY if http.body is None and http.method != "GET" else http.body
        paths = {"answer": http.answer or ANSWER_PATH}
        return http.settings(body=body, paths=paths, timeout_seconds=seconds, jobs=jobs or 4)
    url = name if name.startswith(("http://", "https://")) else target
    if not url:
        raise UsageError("the answerer http names no endpoint. Write http:URL, or add http: with its url.")
    paths = {"answer": ANSWER_PATH}
    return HttpSettings(url, body=ANSWER_BODY, paths=paths, timeout_seconds=seconds, jobs=jobs or 4)


def answer_all(
    systems: Sequence[StudySystem],
    testset: TestSet,
    answerer: Answerer,
    contexts: int,
    *,
    only: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    records: Sequence[Mapping[str, Any]] = (),
    journal: Journal | None = None,
    retry_errors: bool = False,
    say: Progress = lambda what, done, total: None,
) -> tuple[list[StudySystem], list[Note]]:
    """The systems with answers to every question that they have hits for; those that answer themselves keep theirs.

    `contexts` is how many of the first hits an answerer may choose from. `only` names those that are answered for,
    None: all. `limit` is how many questions are answered, a sample by `seed` over kinds and gold; of the others answers
    have no scores. Questions are answered one after the other for all systems. What `records` of a journal know is not
    asked again, unless it failed and `retry_errors` is set.
    """
    known = {str(r["key"]): r for r in records if r.get("answerer") == answerer.fingerprint}
    texts: dict[str, str] = {}  # each context once, however many answers were given it
    answers = {
        key: _sharing(answer_of(r["answer"]), texts)
        for key, r in known.items()
        if not (retry_errors and r["answer"].get("error"))
    }
    pieces: list[_AnswerPiece] = []
    requests: dict[int, _SystemRequests] = {}
    notes: list[Note] = []
    chosen = testset.ids if limit is None else answered_ids(testset, limit, seed)
    others = unasked(testset, chosen)
    for number, system in enumerate(systems):
        if system.run.has_answers or (only is not None and system.name not in only):
            continue
        if not system.run.has_rankings:
            continue
        if system.indexed is None and "text" not in system.run.fields:
            notes.append(Note("warning", f"{system.name}: its hits have no texts, so nothing was answered from them."))
            continue
        requests[number] = _SystemRequests(number, system, testset, contexts)
        pieces += requests[number].pieces(others)
    if others and pieces:
        rest_on = {name for q in testset if q.id not in others for name in gold_of(q)}
        notes.append(
            Note(
                "info",
                f"{len(chosen):,} of {len(testset):,} questions were answered, a sample over kinds and over "
                f"{len(rest_on):,} pieces of gold (seed {seed}).",
            )
        )
    number_of = {qid: number for number, qid in enumerate(testset.ids)}
    pieces.sort(key=lambda piece: piece.question)  # so that a budget that ends has paid for what compares
    missing = list({piece.key: piece for piece in pieces if piece.key not in answers}.values())
    asked_for: dict[str, list[tuple[str, str]]] = {}  # systems and questions by what is asked
    for piece in pieces:
        asked_for.setdefault(piece.key, []).append((systems[piece.system].name, testset.ids[piece.question]))
    what, finished = f"answering by {answerer.name}", 0

    def done(asked: AnswerRequest, answer: Answer) -> None:
        nonlocal finished
        key = _key(asked)
        answers[key] = _sharing(answer, texts)
        if journal is not None:
            record = {"answerer": answerer.fingerprint, "key": key, "for": asked_for[key]}
            journal.add([{**record, "answer": plain_answer(answer)}])
        finished += 1
        say(what, finished, len(missing))

    if missing:
        say(what, 0, len(missing))
        of_piece = Lazy(len(missing), lambda place: requests[missing[place].system].make(missing[place].question))
        answerer.answer(of_piece, done)
        remarks: Sequence[str] = getattr(answerer, "remarks", ())
        notes += [Note("warning", f"{answerer.name}: {remark}") for remark in remarks]
    lost = [piece for piece in pieces if piece.key not in answers]
    if lost:
        raise AssertionError(
            f"{answerer.name} left {len(lost)} questions without a word, {testset.ids[lost[0].question]!r} among them"
        )
    given: dict[int, dict[str, Answer]] = {}
    for piece in pieces:
        id_ = testset.ids[piece.question]
        given.setdefault(piece.system, {})[id_] = replace(answers[piece.key], question=id_)
    answered = [_answered(c, given[n], number_of, others) if n in given else c for n, c in enumerate(systems)]
    return answered, notes


def _sharing(answer: Answer, texts: dict[str, str]) -> Answer:
    """The answer with the one copy of each context that answers share."""
    if answer.contexts is None:
        return answer
    return replace(answer, contexts=tuple(texts.setdefault(text, text) for text in answer.contexts))


def _answered(
    system: StudySystem, answers: Mapping[str, Answer], number_of: Mapping[str, int], others: Mapping[str, str]
) -> StudySystem:
    """The system with answers, each with the seconds of its retrieval where they are known."""
    timed = {}
    for qid, answer in answers.items():
        spent = system.seconds[number_of[qid]] if len(system.seconds) else None
        seconds = {"retrieve": spent, **answer.seconds} if spent is not None else answer.seconds
        timed[qid] = replace(answer, seconds=seconds)
    return replace(system, run=replace(system.run, answers=timed, unasked=others))


def _key(asked: AnswerRequest) -> str:
    """The same for the same question, history and contexts, whatever system found them; their scores do not count."""
    plain: list[Any] = [asked.id, asked.question, [[c.id, c.text, c.title, c.source] for c in asked.contexts]]
    plain += [[[turn.question, turn.answer] for turn in asked.history]] if asked.history else []
    text = json.dumps(plain, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _context(run: Run, place: int, resolution: Resolution | None) -> Context:
    id_ = run.doc_list[place]
    if resolution is not None and (row := resolution.chunks.row_of.get(id_.strip())) is not None:
        chunk = resolution.chunks[row]
        pages = ", ".join(map(str, chunk.pages))
        return Context(id_, chunk.text, chunk.title or "", source=f"{chunk.doc}, page {pages}" if pages else chunk.doc)
    fields = {name: column[place] for name, column in run.fields.items()}
    return Context(id_, str(fields.get("text") or ""), "", source=str(fields.get("doc") or fields.get("url") or ""))


def rows_of(runs: Sequence[Run], testset: TestSet) -> list[dict[str, Any]]:
    """The answers of all systems as rows of canonical results, with the texts and ids of what they used.

    A question that failed before it could be answered is a row with its error; one that was not to be answered is none.
    Nothing that differs from run to run
    stands in them: no seconds, tokens or cost.
    """
    rows: list[dict[str, Any]] = []
    for run in runs:
        if not run.has_answers:
            continue
        for qid, contexts in zip(testset.ids, contexts_of(run, testset.ids), strict=True):
            if qid in run.unasked:
                continue
            if qid in run.failed:
                rows.append({"id": qid, "system": run.name, "error": run.failed[qid]})
                continue
            answer = run.answers.get(qid) or Answer(qid)
            row: dict[str, Any] = {"id": qid, "system": run.name, "answer": answer.text}
            row |= {"answer_error": answer.error} if answer.error is not None else {}
            row |= {"contexts": list(contexts)} if contexts is not None else {}
            row |= {"context_ids": list(answer.used)} if answer.used is not None else {}
            row |= {"model": answer.model} if answer.model is not None else {}
            row |= {"confidence": answer.confidence} if answer.confidence is not None else {}
            rows.append(row)
    return rows
