"""The models of a run: what answers, rewrites and embeds, and what judges, with one budget and one record of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.means import Means
from karat.experiment.means import CALLS, ChatOnDemand, MeansSettings, close, means_of, spent_by

if TYPE_CHECKING:
    from karat.experiment.spec import Spec
    from karat.systems.index import Index

Say = Callable[[str, int, int], None]
Announce = Callable[[str], None]


@dataclass(frozen=True)
class Models:
    """What is asked while a run retrieves and answers, and what its judges ask."""

    means: Means
    judging: Means

    def spent(self) -> list[dict[str, Any]]:
        """What every chat model was asked and what that cost, in plain values; what is unknown is None."""
        chats = list({id(means.chat): means for means in (self.means, self.judging)}.values())
        return [spent for means in chats if (spent := spent_by(means)) is not None]


@contextmanager
def models_of(
    spec: Spec, folder: Path, root: Path, indexes: Sequence[Index], say: Say, announce: Announce | None = None
) -> Iterator[Models]:
    """The models that a spec names. Calls are kept in the run's folder, and beside all runs for the next of them."""
    from karat.models import hosts

    keys = spec.keys
    chat, judge = spec.chat_settings(), spec.chat_settings(judge=True)
    for named in filter(None, (chat, judge)):
        hosts.allow(named)  # `karat judge` may ask it again
    settings = MeansSettings(
        cross_encoder=str(spec.path(keys.cross_encoder)) if keys.cross_encoder is not None else None,
        chat=chat,
        max_cost_usd=keys.budgets.max_cost_usd,
        max_calls=keys.budgets.max_calls,
        calls=folder / CALLS,
        shared=root / CALLS,
    )
    means = means_of(settings, index=indexes[0] if indexes else None, progress=say, announce=announce)
    judging = replace(means, repeat=keys.judge_repeat)
    if judge is not None and judge != chat:
        before = means.chat if isinstance(means.chat, ChatOnDemand) else None
        judging = replace(judging, chat=ChatOnDemand(replace(settings, chat=judge), say, announce, before))
    try:
        yield Models(means, judging)
    finally:
        close(means)
        close(judging)
