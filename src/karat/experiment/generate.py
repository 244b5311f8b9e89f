"""Generate: a test set made from the documents of an index, or more questions for one that exists, in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError, did_you_mean
from karat.core.glance import NotebookView, Table
from karat.core.progress import Progress, shown_in_notebook
from karat.core.types import Question, TestSet
from karat.experiment.models import ChatOptions, ChatValue, ModelSettings, close, models_of, spent_by, spent_notes
from karat.experiment.settings import takes_settings
from karat.files import read_testset, write
from karat.retrieve.engines.bm25 import BM25Engine
from karat.systems.index import Index
from karat.testset.freeze import refuse_frozen
from karat.testset.generate import GenerationSettings, kinds_named
from karat.testset.generate import generate as make
from karat.testset.mix import DEFAULT, Mix

if TYPE_CHECKING:
    from karat.core.docs import Chunks
    from karat.results.drafts import Generated

SAMPLES = 30
KINDS = ("literal", "paraphrase", "scenario")
CALLS = ".calls.sqlite"
_ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
PathLike = str | os.PathLike[str]


@dataclass(frozen=True, repr=False)
class GeneratedTestSet(NotebookView):
    """What came of a generation: the whole `testset`, the questions that are new in it, and what was spent.

    `generated` holds every draft that was rejected, with its reason, and the sample with why each other chunk was left
    out. `sentence` says what the model was asked and cost. `output` is the file; None where none was written.
    """

    testset: TestSet
    generated: Generated
    chunks: Chunks
    spent: Mapping[str, Any] | None = None
    sentence: str | None = None
    output: str | None = None

    @property
    def questions(self) -> tuple[Question, ...]:
        """The new questions."""
        return self.generated.questions

    @property
    def n_failed(self) -> int:
        """How many calls of the model failed."""
        return sum(one.reason == "model_failed" for one in self.generated.rejected)

    def _line(self) -> str:
        where = "" if self.output is None else f"; written to {self.output}"
        return f"{self.generated._line()}; {len(self.testset):,} in the test set{where}"

    def _table(self) -> Table:
        return TestSet(self.questions)._table()


@shown_in_notebook("say")
@takes_settings(chat=ChatOptions)
def generate(
    index: PathLike | Index,
    *,
    samples: int = SAMPLES,
    kinds: Sequence[str] | str | None = None,
    offline: bool = False,
    each: int = 1,
    seed: int = 0,
    mix: PathLike | Mapping[str, Any] | Mix | None = None,
    extend: PathLike | None = None,
    fill_gaps: bool = False,
    docs: Sequence[str] | None = None,
    least_tokens: int | None = None,
    output: PathLike | None = None,
    force: bool = False,
    columns: Mapping[str, str] | None = None,
    chat: ChatValue = None,
    say: Progress = lambda what, done, total: None,
) -> GeneratedTestSet:
    """Make questions with gold and answers from the documents of an index, by a chat model or `offline`.

    `samples` chunks give one accepted question of each kind, or `each` where no model is asked. `mix` is a file or
    mapping of categories with shares, or "default". `extend` is a test set to add to: in place unless `output` names
    another file; `fill_gaps` then goes where it asks little. `docs` are the only documents to ask about. `chat` is
    the model, as in `karat.score`.
    """
    from karat.experiment.check import usable_dense
    from karat.testset.sample import LEAST_TOKENS, AskedRows, asked_rows, gap_weights, sections_of

    settings = ModelSettings.of(chat)
    _check(settings, offline, mix is not None, extend is not None, fill_gaps)
    named = _names(kinds)
    target = checked_target(output, extend, force)
    categories = _mix(mix)
    say("opening the index", 0, 1)
    opened = index if isinstance(index, Index) else Index.open(index)
    before, in_place = _before(extend, target, columns)
    _check_docs(docs, opened)
    covered = asked_rows(before.questions, opened.chunks, opened.docs) if before else AskedRows({}, frozenset())
    weights = None
    if fill_gaps:
        weights = gap_weights(opened.chunks, covered.rows, sections_of(opened.chunks, opened.docs))
    if target is not None and settings.chat is not None and settings.calls is None:
        settings = replace(settings, calls=f"{target}{CALLS}")
    models = models_of(settings, index=opened, progress=say)
    try:
        wanted = GenerationSettings(
            samples=samples, kinds=named, offline=offline, each=each, seed=seed, mix=categories, weights=weights,
            least_tokens=LEAST_TOKENS if least_tokens is None else least_tokens, wanted_docs=docs,
        )  # fmt: skip
        generated = make(
            opened.chunks, wanted, models, docs=opened.docs, before=before.questions if before else (),
            asked=covered.by_kind, index_bm25=_stemming_bm25(opened), index_dense=usable_dense(opened), say=say,
        )  # fmt: skip
        spent, sentences = spent_by(models), [note.text for note in spent_notes(models)]
    finally:
        close(models)
    changed = (f"{extend} is {before.changed}.",) if before is not None and before.changed is not None else ()
    generated = replace(generated, notes=(*changed, *covered.notes, *generated.notes))
    whole = TestSet((*(before.questions if before else ()), *generated.questions), name=_name(target, extend))
    written = target is not None and bool(generated.questions)
    if written and target is not None:
        _write(generated.questions, whole, target, in_place)
    return GeneratedTestSet(
        whole, generated, opened.chunks, spent, sentences[0] if sentences else None, str(target) if written else None
    )


def _check(settings: ModelSettings, offline: bool, mix: bool, extend: bool, fill_gaps: bool) -> None:
    """Refuse what cannot be, before anything is read."""
    if settings.chat is None and not offline:
        raise UsageError(
            "no chat model is named to write questions. Name one with --model (chat=), or make them by grammar with "
            "--offline (offline=True)."
        )
    if settings.chat is not None and offline:
        raise UsageError("--offline asks no model: leave out --model, or --offline.")
    if offline and mix:
        raise UsageError("--mix tells a chat model how to ask: it would change nothing with --offline. Leave it out.")
    if fill_gaps and not extend:
        raise UsageError("--fill-gaps needs a test set whose gaps are to be filled. Name it with --extend (extend=).")
    refuse_repeat(settings)


def refuse_repeat(settings: ModelSettings) -> None:
    """Refuse to ask a model several times for what it writes."""
    if settings.repeat != 1:
        raise UsageError("--repeat is for judges: it would change nothing here. Leave it out.")


def _names(kinds: Sequence[str] | str | None) -> list[str]:
    """The kinds that are asked for, by their names."""
    named: Sequence[str] = KINDS
    if kinds is not None:
        named = kinds.split(",") if isinstance(kinds, str) else kinds
    return [kind.name for kind in kinds_named([name.strip() for name in named if name.strip()])]


def checked_target(output: PathLike | None, extend: PathLike | None, force: bool) -> Path | None:
    """The file to write; None: none is. What stands there is not overwritten unasked."""
    if output is None:
        if extend is None:
            return None
        output = extend
    target = Path(output)
    if not target.name.lower().endswith(_ENDINGS):
        raise UsageError(
            f"{target}: a test set is written as JSONL. Name a file that ends with .jsonl; `karat convert` makes other "
            "formats of it."
        )
    refuse_frozen(target, ": it stays as it is. Name another file to write with -o (output=).")
    in_place = extend is not None and _same(target, Path(extend))
    if target.exists() and not in_place and not force:
        raise UsageError(
            f"{target} exists, and nothing is overwritten unasked. Add to it with --extend {target}, replace it with "
            "--force, or name another file."
        )
    return target


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _before(
    extend: PathLike | None, target: Path | None, columns: Mapping[str, str] | None
) -> tuple[TestSet | None, bool]:
    """The test set to add to, and whether it is added to where it stands."""
    if extend is None:
        return None, False
    testset, taken = read_testset(extend, columns=columns)
    in_place = target is not None and _same(target, Path(extend))
    if in_place and taken.format != "canonical":
        raise UsageError(
            f"{extend} is a {taken.format} file: questions are added in place only to karat's own JSONL. Name another "
            "file to write with -o (output=)."
        )
    return testset, in_place


def _check_docs(docs: Sequence[str] | None, index: Index) -> None:
    known = set(index.chunks.column("doc")) if docs else set()
    for doc in docs or ():
        if doc not in known:
            raise UsageError(f"no document of the index is called {doc!r}.{did_you_mean(doc, sorted(known))}")


def _stemming_bm25(index: Index) -> BM25Engine | None:
    """The BM25 engine of an index if its terms are stems of content words, by which drafts are compared."""
    bm25 = index.engine("bm25") if "bm25" in index.engines else None
    return bm25 if isinstance(bm25, BM25Engine) and bm25.settings["terms"] == "stem" else None


def _mix(mix: PathLike | Mapping[str, Any] | Mix | None) -> Mix | None:
    if mix is None or isinstance(mix, Mix):
        return mix
    if isinstance(mix, Mapping):
        return Mix.of(mix)
    if os.fspath(mix) == "default":
        return DEFAULT
    from karat.experiment.spec._yaml import load_yaml

    return Mix.of(load_yaml(Path(mix)).values, os.fspath(mix))


def _name(target: Path | None, extend: PathLike | None) -> str:
    path = target or (Path(extend) if extend is not None else None)
    return "generated" if path is None else path.name


def _write(new: Sequence[Question], whole: TestSet, target: Path, in_place: bool) -> None:
    """Write the test set; what stood in the file that is added to keeps its bytes."""
    from karat.io.writing import write_whole

    if not in_place:
        write(whole, target, format="canonical")
        return
    from tempfile import TemporaryDirectory

    existing = target.read_bytes()
    with TemporaryDirectory(prefix="karat-") as folder:
        part = Path(folder) / target.name
        write(TestSet(new), part, format="canonical")
        added = part.read_bytes()
    packed = target.name.lower().endswith(".gz")
    write_whole(target, existing + (b"" if packed or existing.endswith(b"\n") or not existing else b"\n") + added)
