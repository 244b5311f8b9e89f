"""The models of a run: what is asked while it retrieves and answers, and what its judges ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.experiment.claims import ClaimSource
from karat.experiment.models import BLOCKS, CALLS, ChatOnDemand, ModelSettings, close, models_of, spent_by, with_maker
from karat.pool import BlockPool, Pool

if TYPE_CHECKING:
    from karat.core.models import Models
    from karat.experiment.spec import Spec
    from karat.systems.index import Index


@dataclass(frozen=True)
class RunModels:
    """What is asked while a run retrieves and answers, and what its judges ask."""

    answering: Models
    judging: Models

    def spent(self) -> list[dict[str, Any]]:
        """What every chat model was asked and what that cost, in plain values; what is unknown is None."""
        chats = list({id(models.chat): models for models in (self.answering, self.judging)}.values())
        return [spent for models in chats if (spent := spent_by(models)) is not None]


@contextmanager
def run_models(
    spec: Spec,
    folder: Path,
    root: Path,
    indexes: Sequence[Index],
    say: Callable[[str, int, int], None],
    announce: Callable[[str], None] | None = None,
    pool: Pool | None = None,
) -> Iterator[RunModels]:
    """The models that a spec names. Calls are kept in the run's folder, and beside all runs for the next of them.

    What needs no endpoint is done by the `pool`, in a folder of the run.
    """
    from karat.models import hosts

    keys = spec.keys
    chat, judge = spec.chat_settings(), spec.chat_settings(judge=True)
    for named in filter(None, (chat, judge)):
        hosts.allow(named)  # `karat judge` may ask it again
    settings = ModelSettings(
        cross_encoder=str(spec.path(keys.cross_encoder)) if keys.cross_encoder is not None else None,
        claims=replace(spec.claims, folder=folder),
        chat=chat,
        max_cost_usd=keys.budgets.max_cost_usd,
        max_calls=keys.budgets.max_calls,
        calls=folder / CALLS,
        shared=root / CALLS,
        announce=announce,
    )
    models = models_of(
        replace(settings, claims=ClaimSource()), index=indexes[0] if indexes else None, progress=say,
        pool=BlockPool(pool, folder / BLOCKS) if pool is not None else None,
    )  # fmt: skip
    judging = replace(models, repeat=keys.judge_repeat)
    if judge is not None and judge != chat:
        before = models.chat if isinstance(models.chat, ChatOnDemand) else None
        judging = replace(judging, chat=ChatOnDemand(replace(settings, chat=judge), say, before))
    judging = with_maker(judging, settings)
    try:
        yield RunModels(models, judging)
    finally:
        close(models)
        close(judging)
