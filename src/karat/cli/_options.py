"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from karat.core.errors import UsageError

if TYPE_CHECKING:
    from karat.systems.system import System

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else there.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print less: the results and what needs attention.")]
Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="Print more: every slice, problem and id, and whole texts.")
]
MOST_HITS = 2**31 - 1
"""The highest cut-off."""
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Map = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="COLUMN=FIELD", help="Read a column of a file as a field of karat's. Repeatable."),
]
Redact = Annotated[
    list[str] | None,
    typer.Option(
        "--redact",
        metavar="PATTERN",
        help="Replace what a regular expression finds in texts, or email, phone, number or key. Repeatable.",
    ),
]


def columns_of(pairs: Sequence[str] | None) -> dict[str, str]:
    """`--map` values as a dict."""
    columns = {}
    for pair in pairs or ():
        column, equals, name = pair.partition("=")
        if not equals or not column or not name:
            raise UsageError(f"--map {pair!r}: write COLUMN=FIELD, for example --map my_gold=gold.")
        columns[column] = name
    return columns


Testset = Annotated[
    str,
    typer.Argument(
        metavar="TESTSET",
        help="Questions with gold: CSV, TSV, JSON, JSONL, Parquet, qrels, SQuAD, BEIR, FOLDER#SPLIT ...",
    ),
]
IndexFolder = Annotated[str, typer.Argument(metavar="INDEX", help="A folder that `karat index` wrote.")]
Only = Annotated[list[str] | None, typer.Option("--only", help="Run this check alone. Repeatable.")]
Lower = Annotated[
    list[str] | None, typer.Option("--lower", help="A column of a score table where lower is better. Repeatable.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of everything drawn at random.")]
ChangedTestset = Annotated[
    bool, typer.Option("--changed-testset", help="Accept a frozen test set that was changed since.")
]


def refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse an option that was given where it would change nothing; `why` says what it is for."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise UsageError(f"{'-' if len(name) == 1 else '--'}{name.replace('_', '-')} {why}")


Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="hybrid, an engine of the index (bm25, dense), or a store of another tool, such as faiss:PATH; the "
        "index's default unless given.",
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option("--alpha", help="Weight of the dense engine in a weighted hybrid: from 0 to 1."),
]
Fusion = Annotated[str | None, typer.Option("--fusion", help="weighted (default), rrf, combsum, combmnz or isr.")]
Normalise = Annotated[
    str | None,
    typer.Option("--normalise", help="Of scores before a weighted fusion: max (default), minmax, zscore or none."),
]
RrfK = Annotated[float | None, typer.Option("--rrf-k", help="The constant of rrf, 60 by default.")]
Legs = Annotated[
    str | None,
    typer.Option("--legs", help="Engines that a hybrid fuses, dense first for --alpha: dense,bm25 by default."),
]
Depth = Annotated[int, typer.Option("--depth", help="Candidates that each engine returns.")]
Rewrite = Annotated[
    list[str] | None,
    typer.Option(
        "--rewrite",
        help="spell, expand:FILE, phrasings:FILE; by --model: rephrase, hyde, translate:LANGUAGE. Repeatable.",
    ),
]
Rerank = Annotated[
    str | None,
    typer.Option("--rerank", help="A folder with a cross-encoder (needs sentence-transformers), or chat: by --model."),
]
RerankDepth = Annotated[int, typer.Option("--rerank-depth", help="How many of the first hits it reranks.")]
Embedder = Annotated[str | None, typer.Option("--embedder", help="Of a store of another tool; as in `karat index`.")]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", help="Of an OpenAI-compatible endpoint, for --model and --embedder openai:MODEL."),
]
KeyEnv = Annotated[
    str | None,
    typer.Option("--key-env", help="The environment variable that holds the endpoint's key: OPENAI_API_KEY."),
]
Dialect = Annotated[
    str,
    typer.Option(
        "--dialect",
        help="Definitions of the measures: karat, squad, trec, trec-rag, hybrid-rag, liverag, rag-benchmark, momento, "
        "healthcare, ragchecker, alce or crag.",
    ),
]
_MATCHERS = "How hits are matched with gold: auto, exact, chunk, doc, uuid, url, page, quote, span or regex:PATTERN."
Match = Annotated[str, typer.Option("--match", help=_MATCHERS)]
PageOffset = Annotated[int, typer.Option("--page-offset", help="Added to the page numbers of chunks.")]
Pages = Annotated[
    str, typer.Option("--pages", help="Page numbers of chunks: physical (counted from 1) or printed (on the page).")
]
_SYSTEM: dict[str, tuple[Any, Any]] = {
    "engine": (Engine, None),
    "alpha": (Alpha, None),
    "fusion": (Fusion, None),
    "normalise": (Normalise, None),
    "rrf_k": (RrfK, None),
    "legs": (Legs, None),
    "depth": (Depth, 100),
    "rewrite": (Rewrite, None),
    "rerank": (Rerank, None),
    "rerank_depth": (RerankDepth, 20),
    "embedder": (Embedder, None),
    "base_url": (BaseUrl, None),
    "key_env": (KeyEnv, None),
}
CallsFile = Annotated[
    str | None,
    typer.Option("--calls", help="A file that keeps every call of the model: none is paid for twice."),
]
_CHAT: dict[str, tuple[Any, Any]] = {
    name: (Annotated[kind | None, typer.Option(*flags, metavar=metavar, help=told)], None)
    for name, kind, flags, metavar, told in (
        ("model", str, ["--model"], None, "The chat model to ask, as its endpoint calls it."),
        ("base_url", str, ["--base-url"], None, "Of an OpenAI-compatible endpoint; OpenAI's by default."),
        ("price_in", float, ["--price-in"], "USD", "USD for a million tokens that the model reads."),
        ("price_out", float, ["--price-out"], "USD", "USD for a million tokens that the model writes."),
        ("batch", bool, ["--batch/--no-batch"], None, "Ask by batches: cheaper, within a day; goes on when stopped."),
        (
            "price_batch",
            float,
            ["--price-batch"],
            "SHARE",
            "What a batch costs, as a share of the prices: 0.5.",
        ),
        ("max_cost", float, ["--max-cost"], "USD", "Stop asking the model before it costs more USD."),
        ("max_calls", int, ["--max-calls"], "N", "Ask the model no more often than this."),
        ("jobs", int, ["-j", "--jobs"], "N", "How many calls of the model run at a time: 8."),
        ("per_minute", int, ["--per-minute"], "N", "How many calls of the model may begin in a minute."),
        ("repeat", int, ["--repeat"], "N", "How often a judge is asked the same: 1."),
    )
} | {"key_env": (KeyEnv, None), "calls": (CallsFile, None)}


_MATCHING: dict[str, tuple[Any, Any]] = {
    "match": (Annotated[str | None, typer.Option("--match", help=_MATCHERS)], None),
    "page_offset": (Annotated[int, typer.Option("--page-offset", help="Added to the page numbers of hits.")], 0),
    "pages": (Pages, "physical"),
    "repeats": (
        Annotated[str | None, typer.Option("--repeats", help="Hits that hold the same unit: once, collapse or count.")],
        None,
    ),
    "rel": (Annotated[int, typer.Option("--rel", help="The grade from which a unit is relevant.")], 1),
    "ties": (
        Annotated[str, typer.Option("--ties", help="Compare scores as float32 (trec_eval 9) or double (10).")],
        "float32",
    ),
    "collection": (
        Annotated[int | None, typer.Option("--collection", help="Number of documents searched, for AQWV.")],
        None,
    ),
    "allow_zero_overlap": (
        Annotated[bool, typer.Option("--allow-zero-overlap", help="Accept a system that found no gold at all.")],
        False,
    ),
}


_NOT_SEARCHING = ("base_url", "key_env", "repeat", "batch", "price_batch")
"""Options of a chat model that a system has anyway, or not at all."""


_HOSTS: dict[str, tuple[Any, Any]] = {
    name: (Annotated[list[str] | None, typer.Option(f"--{name.replace('_', '-')}", metavar=what, help=told)], None)
    for name, what, told in (
        ("allow_host", "HOST", "Allow an index or a run to ask this host. Remembered. Repeatable."),
        ("allow_model", "FOLDER", "Allow an index to load this model. Remembered. Repeatable."),
        ("insecure_key", "HOST", "Send this host a key over plain http. Remembered. Repeatable."),
    )
}
_POOL: dict[str, tuple[Any, Any]] = {
    "pool": (
        Annotated[
            str | None, typer.Option("--pool", metavar="NAME", help="Who works: local (processes here; usual) or ray.")
        ],
        None,
    ),
    "ray_address": (
        Annotated[
            str | None,
            typer.Option("--ray-address", metavar="HOST:PORT", help="Of a Ray cluster; the one of this machine."),
        ],
        None,
    ),
}
TESTSET_MAKING: dict[str, tuple[Any, Any]] = {
    name: (
        Annotated[kind | None, typer.Option(f"--{name.replace('_', '-')}", help=told, min=0 if kind is int else None)],
        None,
    )
    for name, kind, told in (
        ("testset", str, "Where the test set of documents is: used if it exists, else made there."),
        ("samples", int, "Chunks to make questions about: 30."),
        ("regenerate", bool, "Make the test set again; the old one is kept beside it."),
        ("eval_mode", str, "Which questions to ask: literal, semantic (paraphrase and scenario) or all."),
        ("answer_limit", int, "Questions to answer, a sample over question types and gold: 20."),
        ("skip_answers", bool, "Measure retrieval alone."),
        ("system", list[str], "A preset to compare; balanced, pure_dense and pure_sparse by default. Repeatable."),
        ("chunk", str, "How documents are cut into chunks, as in `karat index`."),
        ("embedder", str, "Of the dense engine, as in `karat index`."),
        ("seed", int, "Of everything drawn at random."),
        ("name", str, "Of the run; that of the first folder by default."),
    )
}
"""Options of a run over documents whose test set is made: what `run_documents` takes."""


def with_pool(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of who does the work; it gets what `pool=` takes as `pool`."""

    @wraps(command)
    def pooled(**options: Any) -> None:
        name, address = options.pop("pool"), options.pop("ray_address")
        given = {"by": name or "ray", "address": address} if address is not None else {"by": name}
        command(**options, pool=None if name is None and address is None else given)

    return _with(pooled, "Workers", _POOL)


def with_testset_making(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of making a test set from documents."""
    return _with(command, "Documents without a test set", TESTSET_MAKING)


def with_hosts(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that allow what an index or a run names; it tells every host before it is asked."""

    @wraps(command)
    def allowing(**options: Any) -> None:
        from karat.models import hosts

        hosts.on_host(None if options.get("quiet") else lambda sentence: typer.echo(sentence, err=True))
        for host in options.pop("allow_host") or ():
            hosts.allow_host(host)
        for folder in options.pop("allow_model") or ():
            hosts.allow_model(folder)
        for host in options.pop("insecure_key") or ():
            hosts.allow_insecure_key(host)
        command(**options)

    return _with(allowing, "Permissions", _HOSTS)


def with_system(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that describe a system and its chat model, in place of its `**options`."""
    chat = {name: option for name, option in _CHAT.items() if name not in _NOT_SEARCHING}
    return _with(_with(command, "System", _SYSTEM), "Chat model", chat)


def with_chat(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a chat model, in place of its `**options`: what `chat=` takes."""
    return _with(command, "Chat model", _CHAT)


def with_chat_of_run(command: Callable[..., None]) -> Callable[..., None]:
    """The same for a command that keeps calls where its run is."""
    options = {name: option for name, option in _CHAT.items() if name != "calls"}
    return _with(command, "Chat model", options)


def with_matching(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of how hits are held against the gold, in place of its `**options`."""
    return _with(command, "Matching", _MATCHING)


def matching_of(options: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What `matching=` takes, of the options that `with_matching` gave; they are taken out."""
    return {name: options.pop(name) for name in _MATCHING} | more


def _with(command: Callable[..., None], heading: str, options: dict[str, tuple[Any, Any]]) -> Callable[..., None]:
    """Add options to a command, which its help lists under a heading."""
    type_hints = get_type_hints(command, include_extras=True)
    own = [
        p.replace(annotation=type_hints[p.name])
        for p in inspect.signature(command).parameters.values()
        if p.kind is not p.VAR_KEYWORD
    ]
    named = {p.name for p in own}
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_under(heading, kind))
        for name, (kind, default) in options.items()
        if name not in named
    ]
    hints = {p.name: p.annotation for p in (*own, *more)}
    command.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]
    command.__annotations__ = {**hints, "return": None}
    return command


def _under(heading: str, kind: Any) -> Any:
    """An option that stands under a heading."""
    option = copy(kind.__metadata__[0])
    option.rich_help_panel = heading
    return Annotated[kind.__origin__, option]


@contextmanager
def system_of(index: str, *, announce: Callable[[str], None] | None = None, **options: Any) -> Iterator[System]:
    """The system that options describe, over the index they name; `-` is none. Its models are closed at the end.

    `announce` gets a sentence on what a chat model is about to be asked.
    """
    from karat.experiment.models import ModelSettings, close, models_of
    from karat.models import EmbedderSettings
    from karat.models.hosts import KEY_ENV, allow_host, is_allowed
    from karat.retrieve import is_embedded
    from karat.systems.defaults import system_for
    from karat.systems.index import Index
    from karat.systems.settings import HYBRID, OF_FUSION, SystemSettings

    engine, fused = options["engine"] or HYBRID, options["fusion"] or SystemSettings.fusion
    for option, fusion in OF_FUSION.items():
        if options[option] is not None and (engine != HYBRID or fused != fusion):
            named = option.replace("_", "-")
            raise UsageError(
                f"--{named} is for a hybrid fused by {fusion}: it would change nothing here. Leave it out."
            )
    asking = {name: options.pop(name) for name in _CHAT if name not in _NOT_SEARCHING}
    embedder, base_url, given_key = (options.pop(name) for name in ("embedder", "base_url", "key_env"))
    key_env = given_key or KEY_ENV
    chosen = EmbedderSettings.parse(embedder, base_url=base_url, key_env=key_env) if embedder is not None else None
    if options["legs"] is not None:
        options["legs"] = tuple(part.strip() for part in options["legs"].split(",") if part.strip())
    options["rewrite"] = tuple(options["rewrite"] or ())
    opened = None if index == "-" else Index.open(index)
    described = system_for(opened, embedder=chosen, **options)
    settings = described.settings
    if chosen is not None and not any(map(is_embedded, settings.consulted)):
        raise UsageError(
            "--embedder is for a store of vectors, such as faiss:PATH. An index has its own: its queries are embedded "
            "by the model that `karat index --embedder` built it with."
        )
    if asking["model"] is not None and not settings.needs_chat:
        raise UsageError("--model is for --rewrite rephrase, hyde or translate, and for --rerank chat. Leave it out.")
    own = opened.embedder if opened is not None and given_key and chosen is None else None
    if own is not None and own.address is not None and asking["model"] is None and is_allowed(own.address):
        allow_host(own.address, key_env)
    endpoint = {"base_url": base_url, "key_env": key_env} if asking["model"] is not None else {}
    models = models_of(ModelSettings.of({**asking, **endpoint, "announce": announce}))
    try:
        yield replace(described, models=models)
    finally:
        close(models)


Claims = Annotated[
    list[str] | None,
    typer.Option(
        "--claims",
        metavar="JUDGE|FILE",
        help="Who judges claims: model, lexical or nli:FOLDER; or a file of claims and verdicts. Repeatable.",
    ),
]
RunsDir = Annotated[str, typer.Option("--runs-dir", help="The folder that holds the runs.")]
Run = Annotated[str, typer.Argument(help="LAST, a run's name, or the beginning of its id.")]
