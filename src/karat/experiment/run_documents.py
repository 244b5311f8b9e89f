"""A run over documents alone: a test set is made from them or taken as it stands, searched, answered and scored."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import NoOverlapError, UsageError, did_you_mean
from karat.core.progress import Progress
from karat.core.text.words import plural
from karat.core.types import TestSet
from karat.experiment.generate import GeneratedTestSet, PathLike, generate
from karat.files import read_testset
from karat.io.dataset_folder import source_exists, split_named
from karat.systems.index_folder import is_index
from karat.testset.freeze import refuse_frozen
from karat.testset.modes import MODES, mode_of

if TYPE_CHECKING:
    from karat.experiment.finished import FinishedRun
    from karat.experiment.spec import Spec
    from karat.systems.index import Index

SAMPLES, ANSWERS = 30, 20
CUTS = (1, 3, 5, 10, 20)
CHUNK = "tokens:200:40"
SYSTEMS = ("balanced", "pure_dense", "pure_sparse")
EVAL_MODES = ("all", "literal", "semantic")
FOLDER, TESTSET = "benchmark", "qa.jsonl"
OUTPUTS = ("html", "markdown", "text", "csv", "json")  # charts as files take longer than all the rest
GENERATED = ("literal", "paraphrase", "scenario")  # kinds of questions that are made


@dataclass(frozen=True, kw_only=True)
class DocumentsRun:
    """What a run over documents is made of.

    The test set is in `testset`, or in the folder of made ones under `runs_dir`. One that stands there is used as it
    is, and made again only with `regenerate`; the old one is kept beside it then. `eval_mode` says which questions are
    asked: literal ones, semantic ones (paraphrase and scenario), or all. `chat` names the chat model that makes
    questions and answers, as `ModelSettings.of` takes it; without one questions are made by grammar and answers by
    extraction.
    """

    sources: Sequence[str]
    samples: int = SAMPLES
    answer_limit: int = ANSWERS
    eval_mode: str = "all"
    skip_answers: bool = False
    testset: PathLike | None = None
    regenerate: bool = False
    systems: Sequence[str] = SYSTEMS
    dialect: str = "karat"
    chunk: str = CHUNK
    embedder: str | None = None
    seed: int = 0
    name: str = ""
    runs_dir: PathLike = "runs"
    chat: Mapping[str, Any] = field(default_factory=dict)
    pool: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be, before anything is read."""
        from karat.experiment.models import ModelSettings

        if not self.sources:
            raise UsageError("no documents are named. Name a folder or files.")
        for source in self.sources:
            if not source_exists(source):
                raise UsageError(f"{source} does not exist. Name a folder of documents, or files.")
            if is_index(source):
                raise UsageError(
                    f"{source} is an index. Make a test set from it with `karat testset make {source} -o qa.jsonl`, "
                    f"then: karat run {source} qa.jsonl."
                )
        if self.eval_mode not in EVAL_MODES:
            near = did_you_mean(self.eval_mode, EVAL_MODES)
            raise UsageError(f"--eval-mode {self.eval_mode!r} is not one of {', '.join(EVAL_MODES)}.{near}")
        if self.samples < 1:
            raise UsageError(f"--samples {self.samples}: at least one chunk is asked about.")
        if self.answer_limit < 1:
            raise UsageError(
                f"--answer-limit {self.answer_limit}: at least one question is answered. To answer none: "
                "--skip-answers."
            )
        if "repeat" in self.chat:
            raise UsageError("--repeat is for judges: it would change nothing here. Leave it out.")
        ModelSettings.of(self.chat)

    @cached_property
    def label(self) -> str:
        """Its name, or that of the first folder or file."""
        path = split_named(self.sources[0])[0].resolve()
        stem = path.name if path.is_dir() else path.stem
        return self.name or re.sub(r"[^\w.-]+", "-", stem).strip("-.") or "documents"

    @property
    def path(self) -> Path:
        """The file of the test set."""
        return Path(self.testset) if self.testset is not None else Path(self.runs_dir) / FOLDER / self.label / TESTSET

    def spec(self, asked: TestSet | None = None, chat: Mapping[str, Any] | None = None) -> Spec:
        """The experiment, checked as if it were a karat.yaml; `asked` are some or all questions of the test set."""
        import json

        from karat.experiment.spec import option_values, spec_of

        measures = ["Recall@k", "Hit@k", "MRR@k", "nDCG@k"]
        keys: dict[str, Any] = {
            "name": self.label, "corpus": list(self.sources), "testset": str(self.path), "chunk": [self.chunk],
            **({"embedder": [self.embedder]} if self.embedder else {}),
            **({"pool": dict(self.pool)} if self.pool is not None else {}),
            "systems": list(self.systems), "k": list(CUTS), "dialect": self.dialect, "seed": self.seed,
            "measures": measures[self.dialect == "rag-benchmark" :],  # Recall@k means Hit@k there
            "runs_dir": str(Path(self.runs_dir)), "outputs": list(OUTPUTS),
        }  # fmt: skip
        if asked is not None:
            kinds = list(dict.fromkeys(q.kind for q in asked if q.kind is not None))
            keys |= {"by": ["kind"]} if kinds else {}
            if len(asked) < len(read_testset(self.path)[0]):
                keys["where"] = {"kind": kinds}
            if not self.skip_answers and any(q.answers for q in asked):
                keys["measures"] = [*keys["measures"], "SemanticSimilarity", "TokenF1"]
                keys["answer"] = {"by": "chat" if "model" in (chat or {}) else "extractive", "limit": self.answer_limit}
                keys |= option_values(keys, **(chat or {}))
        return spec_of(json.dumps(keys), ".", "the karat.yaml of these documents")


def run_documents(
    docs: PathLike | Sequence[PathLike],
    *,
    changed_testset: bool = False,
    command: Sequence[str] = (),
    say: Progress = lambda what, done, total: None,
    announce: Callable[[str], None] | None = None,
    **options: Any,
) -> FinishedRun:
    """Make a test set from documents, or take the one that stands; search it, answer a sample of it, and score both.

    `options` are those of `DocumentsRun`, and of its chat model. What comes back is a run like any other.
    """
    from karat.experiment.run import INDEXES, indexes_of, run
    from karat.results.evaluation import Note

    sources = [os.fspath(docs)] if isinstance(docs, str | os.PathLike) else [os.fspath(one) for one in docs]
    own = {option.name for option in fields(DocumentsRun)}
    chat = {name: value for name, value in options.items() if name not in own and value is not None}
    settings = {name: value for name, value in options.items() if name in own}
    making = DocumentsRun(sources=sources, chat=chat, **settings)
    spec = making.spec()  # a mistake is told before anything is read or paid for
    (built,) = indexes_of(spec, Path(making.runs_dir) / INDEXES, say)
    generated = None
    if making.regenerate or not making.path.exists():
        generated = _generated(making, built.index, say, announce)
        chat = chat if making.skip_answers else _left(chat, generated)
    asked, missing = _asked(making)
    _check_same(asked, making.path, built.index)
    notes = [Note("info", text) for text in (_origin(generated), *missing)]
    notes += [Note("warning", text) for text in _warnings(generated, built.index)]
    done = run(
        making.spec(asked, chat), changed_testset=changed_testset, command=command, notes=notes, say=say,
        announce=announce,
    )  # fmt: skip
    done.failed_calls = generated.n_failed if generated is not None else 0
    return done


def _origin(testset: GeneratedTestSet | None) -> str:
    """Where the test set comes from."""
    if testset is None:
        return "using the existing test set; --regenerate rebuilds it."
    generated = testset.generated
    drafts = len(generated.questions) + len(generated.rejected)
    return (
        f"the test set was made from {len(generated.sampled.rows):,} chunks: {len(generated.questions):,} of "
        f"{drafts:,} drafts accepted. {testset.sentence or ''}".rstrip()
    )


def _warnings(testset: GeneratedTestSet | None, index: Index) -> list[str]:
    """What keeps the figures of a benchmark from being taken for more than they are."""
    warnings = list(testset.generated.notes) if testset is not None else []
    if testset is not None and testset.n_failed:
        warnings.append(
            f"{testset.n_failed:,} calls of the model failed while the test set was made. With --regenerate it is made "
            "anew, and only what has no reply yet is asked again."
        )
    if len(index.chunks) <= max(CUTS):
        chunks = plural(len(index.chunks), "chunk")
        warnings.append(f"the index has {chunks}: a list of {max(CUTS)} hits holds all of them.")
    return warnings


def _generated(
    making: DocumentsRun, index: Index, say: Progress, announce: Callable[[str], None] | None
) -> GeneratedTestSet:
    """A new test set in its file; one that stood there is kept beside it."""
    from karat.experiment.review import keep_original

    path, offline = making.path, "model" not in making.chat
    wanted = [kind for kind in GENERATED if making.eval_mode in ("all", MODES[kind])]
    if offline:
        from karat.testset.offline import OFFLINE_KINDS

        wanted = [kind for kind in wanted if kind in OFFLINE_KINDS]
        if not wanted:
            raise UsageError(
                "semantic questions (paraphrase, scenario) are written by a chat model, and none is named. Add "
                "--model, or use --eval-mode literal."
            )
    if path.exists():
        refuse_frozen(path, " and is not made again. Name another file with --testset.")
        keep_original(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    testset = generate(
        index, samples=making.samples, kinds=wanted, offline=offline, seed=making.seed, output=path,
        force=making.regenerate, say=say, chat={**making.chat, "announce": announce},
    )  # fmt: skip
    if not testset.questions:
        raise NoOverlapError(
            f"no question was made from these documents: {plural(len(testset.generated.rejected), 'draft')} rejected, "
            f"{plural(len(testset.generated.sampled.left_out), 'chunk')} left out. {' '.join(testset.generated.notes)}"
        )
    return testset


def _left(chat: Mapping[str, Any], testset: GeneratedTestSet) -> dict[str, Any]:
    """The options of the chat model with what is left of its budget."""
    left, spent = dict(chat), testset.spent or {}
    for option, key in (("max_calls", "calls"), ("max_cost", "cost_usd")):
        if option in left:
            left[option] -= spent.get(key) or 0
            if left[option] <= 0:
                made_of = f"{len(testset.questions):,} of {sum(testset.generated.wanted.values()):,} questions"
                raise UsageError(
                    f"making the test set took all of --{option.replace('_', '-')} {chat[option]}. It is kept: "
                    + (
                        f"{made_of}, since the budget was spent. Make the others with --regenerate and more (what was "
                        "paid is not paid again), or give the same command again to go on with these."
                        if testset.n_failed
                        else "give the same command again for the rest, with more or with --skip-answers."
                    )
                )
    return left


def _asked(making: DocumentsRun) -> tuple[TestSet, list[str]]:
    """The questions of a mode, all of them where both are asked, and what should be known of them."""
    path, eval_mode = making.path, making.eval_mode
    whole, _ = read_testset(path)
    kinds = Counter(mode_of(q.kind) for q in whole)
    if eval_mode == "all":
        missing = [mode for mode in ("literal", "semantic") if not kinds[mode]]
        notes = [f"no question of the test set is {mode}: nothing is said of that mode." for mode in missing]
        if kinds[None]:
            notes.append(f"{kinds[None]:,} questions are of kinds that belong to no mode: they stand by kind alone.")
        return whole, notes
    chosen = [q for q in whole if mode_of(q.kind) == eval_mode]
    if not chosen:
        there = ", ".join(sorted({q.kind or "none" for q in whole}))
        raise UsageError(
            f"{path} holds no {eval_mode} question; its kinds: {there}. Make one that does: name another file with "
            "--testset, or make it again with --regenerate."
        )
    return TestSet(chosen, name=whole.name, norm=whole.norm), []


def _check_same(asked: TestSet, path: Path, index: Index) -> None:
    """Refuse a test set whose gold is all in other documents, as that of another folder of the same name."""
    named = sorted({gold.doc for question in asked for gold in question.gold if gold.doc})
    known = {*index.docs.ids, *index.chunks.column("doc")}
    if named and known.isdisjoint(named) and all(gold.doc for question in asked for gold in question.gold):
        shown = ", ".join(named[:3]) + (" ..." if len(named) > 3 else "")
        raise UsageError(
            f"{path} was made from other documents: none of the documents of its gold ({shown}) is among these. Give "
            "this benchmark a --name of its own, or name its test set with --testset."
        )
