"""Who judged: the model and the prompt that stand beside scores, and whether a calibration is of the same judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError
from karat.results.calibration import JudgeIdentity
from karat.results.evaluation import Note

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.core.scores import Scores


def judges_of(scores: Scores, number: int) -> tuple[JudgeIdentity, ...]:
    """Who gave the scores of a measure, by what stands beside them; nobody, where nothing does."""
    names = ("by", "model", "fingerprint", "prompt", "prompt_digest")
    identities: dict[tuple[Any, ...], None] = {}
    for (_, _, measure), detail in scores.details.items():
        if measure == number and "by" in detail and ("prompt" in detail or detail["by"] != "model"):
            identities[tuple(detail.get(name) for name in names)] = None
    return tuple(JudgeIdentity(**dict(zip(names, values, strict=True))) for values in sorted(identities, key=str))


def mixture_notes(judges: Sequence[JudgeIdentity]) -> list[Note]:
    """Warns where several judges gave the scores of one measure."""
    if len(judges) < 2:
        return []
    described = "; ".join(f"{judge.model or judge.by}, prompt {judge.prompt}" for judge in judges)
    text = (
        f"{len(judges)} judges gave these scores ({described}): figures are of the mixture, and correct no other run."
    )
    return [Note("warning", text)]


def same_judge(
    measure: Measure, theirs: Sequence[JudgeIdentity], ours: Sequence[JudgeIdentity], *, place: str, run: str
) -> list[Note]:
    """What differs between the judge of a calibration and that of a run and may be borne; another judge is refused."""
    name = measure.name
    for judges, who in ((theirs, place), (ours, f"run {run}")):
        if len(judges) > 1:
            described = " and ".join(_named(judge) for judge in judges)
            raise UsageError(f"{who}: {name} was judged by {described}, and a calibration holds for one judge.")
        if measure.needs and not (judges and _is_known(judges[0])):
            raise UsageError(
                f"{who}: {name} is without the model and the prompt that gave its scores, so that nothing says whether "
                f"the judge is the same. Judge the run again (karat judge RUN -m {measure.spec.name})"
                f"{', and calibrate it by its labels' if who == place else ''}."
            )
    if not theirs or not ours:
        return []
    before, now = theirs[0], ours[0]
    what = next((part for part in _WORDS if getattr(before, part) != getattr(now, part)), None)
    if what is not None:
        raise UsageError(
            f"{place} is of {name} by {_named(before)}, and run {run} was judged by {_named(now)}: a calibration holds "
            f"for its own {_WORDS[what]}. Judge the run by the calibrated one, or label some of its answers and run "
            "`karat judge calibrate RUN LABELS`."
        )
    if before.fingerprint != now.fingerprint:
        text = f"{now.model} was asked with other settings (address, temperature, seed or limit of tokens) than before."
        return [Note("warning", text)]
    return []


_WORDS = {"by": "judge", "model": "model", "prompt": "prompt", "prompt_digest": "words of the prompt"}


def _is_known(judge: JudgeIdentity) -> bool:
    return judge.by != "model" or None not in (judge.model, judge.prompt, judge.prompt_digest)


def _named(judge: JudgeIdentity) -> str:
    if judge.by != "model":
        return f"the {judge.by}"
    return f"{judge.model} (prompt {judge.prompt}, {judge.prompt_digest})"
