"""Nuggets for the questions of a test set, written by a chat model from their gold in an index, in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError
from karat.experiment.generate import CALLS, PathLike, checked_target, refuse_repeat
from karat.experiment.models import ChatOptions, ChatValue, ModelSettings, close, models_of, spent_by, spent_notes
from karat.experiment.settings import takes_settings

if TYPE_CHECKING:
    from pathlib import Path

    from karat.systems.index import Index
    from karat.testset.nuggets import NuggetsMade


@dataclass(frozen=True)
class NuggetTestSet:
    """What came of it, where it was written (None: nothing was), and what was spent, in figures and in a sentence."""

    made: NuggetsMade
    output: Path | None = None
    spent: Mapping[str, Any] | None = None
    sentence: str | None = None


@takes_settings(chat=ChatOptions)
def nuggets_for(
    testset: PathLike,
    index: PathLike | Index,
    *,
    output: PathLike,
    force: bool = False,
    columns: Mapping[str, str] | None = None,
    chat: ChatValue = None,
    say: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> NuggetTestSet:
    """Write a test set with nuggets for each of its questions that has none and whose gold is in the index."""
    from karat.experiment.inputs import opened_index, refuse_textless
    from karat.files import read_testset, write
    from karat.match import resolve
    from karat.testset.nuggets import make_nuggets

    settings = ModelSettings.of(chat)
    if settings.chat is None:
        raise UsageError("no chat model is named to write nuggets. Name one with --model (chat=).")
    refuse_repeat(settings)
    target = checked_target(output, None, force)
    say("opening the index", 0, 1)
    questions, info = read_testset(testset, columns=columns)
    refuse_textless(questions, info.place)
    opened = opened_index(index)
    resolution = resolve(questions, opened.chunks, opened.docs)
    if settings.calls is None:
        settings = replace(settings, calls=f"{target}{CALLS}")
    models = models_of(settings, index=opened, progress=say)
    try:
        nuggets = make_nuggets(questions, resolution, models.chat_for("karat testset make"), say)
        spent, sentences = spent_by(models), [note.text for note in spent_notes(models)]
    finally:
        close(models)
    if not nuggets.made:
        return NuggetTestSet(nuggets, None, spent, sentences[0] if sentences else None)
    assert target is not None
    write(nuggets.testset, target, format="canonical", inputs=(testset,))
    return NuggetTestSet(nuggets, target, spent, sentences[0] if sentences else None)
