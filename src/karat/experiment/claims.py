"""Claims of answers: who judges them, what a run has stored of them, and what a file gives; from there to a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from karat.core.errors import UsageError, did_you_mean
from karat.core.text.words import plural
from karat.experiment.settings import settings_of
from karat.measures.entailment import LEXICAL, MODEL, NLI
from karat.results.evaluation import Note

if TYPE_CHECKING:
    import polars as pl

    from karat.core.answered import AnswerTable
    from karat.core.claims import ClaimTable, Relation
    from karat.core.measure import Measure
    from karat.core.models import Models
    from karat.measures.entailment.judging import ClaimJudge, FilledClaims

CLAIMS = "claims.parquet"
BEGINS = "Claims: "
"""How notes on a claims table begin."""


@dataclass(frozen=True)
class ClaimSource:
    """Who judges claims (model, lexical, nli:FOLDER; None: nobody) and what files give verdicts, which go before.

    A file that does not say whose claims it has is named with the system: NAME=FILE. `folder` is where the table is
    kept, so that nothing is judged twice.
    """

    judge: str | None = None
    files: Sequence[Any] = ()
    folder: str | os.PathLike[str] | None = None

    @classmethod
    def of(cls, value: ClaimsValue) -> ClaimSource:
        """From what a command line, a karat.yaml or a notebook says: a judge, a file, both in a list, or a dict."""
        if value is None or isinstance(value, ClaimSource | Mapping):
            return settings_of(cls, value)
        parts: Sequence[Any] = (value,)
        if isinstance(value, list | tuple) and all(isinstance(one, str | os.PathLike) for one in value):
            parts = value
        judges = [one for one in parts if _is_judge(one)]
        if len(judges) > 1:
            raise UsageError(f"--claims names {len(judges)} judges ({', '.join(judges)}). Name one.")
        return cls(next(iter(judges), None), tuple(one for one in parts if not _is_judge(one)))

    def __post_init__(self) -> None:
        known = (MODEL, LEXICAL, f"{NLI}:FOLDER")
        if self.judge is not None and not _is_judge(self.judge):
            raise UsageError(f"no judge of claims is called {self.judge!r}. There are {', '.join(known)}.")
        for file in self.files:
            if isinstance(file, str) and not os.path.exists(owned_file(file)[1]):
                raise UsageError(
                    f"--claims {file}: there is no such file, and no judge of that name.{did_you_mean(file, known)} "
                    f"Judges are {', '.join(known)}."
                )

    def __bool__(self) -> bool:
        return self.judge is not None or bool(self.files)


ClaimsValue = Union[
    str, "os.PathLike[str]", Sequence[Any], Mapping[str, Any], ClaimSource, None
]  # what `claims=` takes


def owned_file(text: str) -> tuple[str | None, str]:
    """The system and the file that NAME=FILE names; a file that is there under this name is meant as it is."""
    name, equals, path = text.partition("=")
    return (name, path) if equals and path and not os.path.exists(text) else (None, text)


def path_in_claims(text: str) -> str | None:
    """The folder or file that a value of `claims` names; None for a judge without one."""
    kind, _, folder = text.partition(":")
    return folder if kind == NLI and folder else None if text in (MODEL, LEXICAL) else owned_file(text)[1]


def rooted_claims(texts: Sequence[str], path: Callable[[str], str | os.PathLike[str]]) -> list[str]:
    """Values of `claims` with the paths in them where they lead from somewhere else."""
    named = [(text, path_in_claims(text)) for text in texts]
    return [text if at is None else text.removesuffix(at) + os.fspath(path(at)) for text, at in named]


def _is_judge(value: Any) -> bool:
    return isinstance(value, str) and (value in (MODEL, LEXICAL) or value.startswith(f"{NLI}:"))


class ClaimMaker:
    """Makes the claims tables of answers: what a file gives, what is stored, and what the judge says of the rest.

    Every table that is made is written into the folder at once.
    """

    keeps = True

    def __init__(self, source: ClaimSource, models: Models) -> None:
        self.source, self._models = source, models
        self.fillings: list[FilledClaims] = []
        self._stored: pl.DataFrame | None = None
        self._judge: ClaimJudge | None = None
        self._given: list[ClaimTable] | None = None
        self._read_as: list[str] = []
        if source.judge == MODEL and models.chat is None:
            raise UsageError("--claims model asks a chat model, and none is named. Add --model (chat=).")

    @property
    def is_able(self) -> bool:
        """Whether there is anything that a table could be made of."""
        return bool(self.source) or (self._path is not None and self._path.is_file())

    @property
    def _path(self) -> Path | None:
        return None if self.source.folder is None else Path(self.source.folder) / CLAIMS

    def prepare(self, systems: Sequence[str], questions: Sequence[str]) -> None:
        """Read the file that gives verdicts, for all systems and questions that there are."""
        from karat.files.claims import read_claims

        if self._given is not None:
            return
        self._given = []
        for one in self.source.files:
            system, file = owned_file(one) if isinstance(one, str) else (None, one)
            table, read = read_claims(file, systems, questions, system=system)
            self._given.append(table)
            self._read_as.append("; ".join((f"{read.place}: {read.read_as}", *read.notes)))

    def __call__(self, answered: AnswerTable, relations: Sequence[Relation]) -> ClaimTable:
        """The claims table of answers, with the verdicts that relations need."""
        from karat.experiment._claims_store import frame_of, joined, read_stored, stored_of, write_stored
        from karat.experiment.blocks import BlockWork
        from karat.measures.entailment.fill import fill

        self.prepare(answered.systems, answered.questions)
        if self._judge is None:
            self._judge, work = self.make_judge(), self._models.blocks
            if isinstance(work, BlockWork) and self._judge is not None and self.source.judge is not None:
                self._judge = work.claim_judge(self._judge, self.source.judge)
        if self._stored is None and self._path is not None:
            self._stored = read_stored(self._path)
        filled = fill(answered, relations, self._judge, stored_of(self._stored), self._given or ())
        self.fillings.append(filled)
        self._stored = joined(self._stored, frame_of(filled))
        if self._path is not None and self.keeps:
            write_stored(self._path, self._stored)
        return filled.table

    @property
    def judged_by(self) -> str:
        """The judge and its prompt; nothing where nobody was asked."""
        return "" if self._judge is None else f"{self._judge.name} {self._judge.prompt}"

    def make_judge(self) -> ClaimJudge | None:
        """Who judges."""
        kind, _, folder = (self.source.judge or "").partition(":")
        if kind == MODEL:
            from karat.measures.entailment.chat import ChatJudge

            return ChatJudge(self._models)
        if kind == NLI:
            from karat.measures.entailment.nli import NliJudge
            from karat.models.nli import NliModel

            return NliJudge(NliModel(folder), self._models.progress)
        if kind == LEXICAL:
            from karat.measures.entailment.lexical import LexicalJudge

            return LexicalJudge()
        return None

    def notes(self) -> list[Note]:
        """Who judged how much, what a file changed, and what else a reader should know."""
        if not self.fillings:
            return []
        tables = [filled.table for filled in self.fillings]
        judged, known, given, changed = (
            sum(getattr(filled, name) for filled in self.fillings) for name in ("judged", "known", "given", "changed")
        )
        by = sorted({origin.judge for filled in self.fillings for origin in filled.origins if origin.judge})
        parts = [f"{plural(judged, 'verdict')} judged now"] * bool(judged)
        parts += [f"{known:,} known before"] * bool(known) + [f"{given:,} given"] * bool(given)
        texts = [
            f"{plural(sum(len(table.pair) for table in tables), 'claim')}, "
            f"{plural(sum(len(table.claim) for table in tables), 'verdict')} by {', '.join(by) or 'nobody'} "
            f"({'; '.join(parts) or 'none was needed'})."
        ]
        texts += [f"{read_as}." for read_as in self._read_as]
        if given:
            texts.append(f"{plural(changed, 'stored verdict')} changed by what was given.")
        texts += self._judge.notes() if self._judge is not None else []
        several = sum(filled.several for filled in self.fillings)
        if several:
            texts.append(f"{plural(several, 'answer')} with several references: the first with words was used.")
        if self._models.repeat > 1:
            texts.append("each claim is judged once, whatever --repeat says.")
        return [Note("info", f"{BEGINS}{text}") for text in texts]


def with_claims(answered: AnswerTable | None, measures: Sequence[Measure]) -> AnswerTable | None:
    """Answers with the claims table that measures need, where any does and somebody can make it."""
    relations = tuple(dict.fromkeys(relation for measure in measures for relation in measure.relations))
    if answered is None or not relations or answered.models.claims is None:
        return answered
    return replace(answered, claims=answered.models.claims(answered, relations))


def claim_notes(models: Models) -> list[Note]:
    """Notes on the claims tables that were made."""
    return models.claims.notes() if isinstance(models.claims, ClaimMaker) else []
