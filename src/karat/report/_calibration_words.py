"""What figures of agreement and calibration mean, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.text.words import plural
from karat.report._numbers import percent, short

if TYPE_CHECKING:
    from karat.results.calibration import Confusion, Corrected, MeasureCalibration, Reliability

_NEAR = 0.005  # differences below this are none


def agreement_sentences(one: MeasureCalibration) -> list[str]:
    """How many labels there are, how far people agree, how far the measure agrees with them, and by what cut."""
    raters = plural(len(one.raters), "rater")
    said = [
        f"{plural(one.n_labels, 'label')} by {raters} of {plural(one.n_items, 'answer')}, {one.n_scored:,} of them "
        "with a score."
    ]
    if one.people.n:
        kappa = "" if one.people.kappa is None else f", kappa {short(one.people.kappa)}"
        said.append(
            f"People agree with each other: alpha {short(one.people.alpha)}{kappa} on {one.people.n:,} answers."
        )
    said += [f"Among people {reason}." for reason in one.people.why]
    said += [f"Measure and people: {reason}." for reason in one.agreement.why]
    if one.confusion is not None and one.agreement.n:
        said.append(_same(one.confusion))
    if one.agreement.alpha is not None and one.people.alpha is not None:
        if one.agreement.alpha >= one.people.alpha:
            said.append("The measure agrees with people no less than they do with each other.")
        else:
            said.append("People agree with each other more than the measure does with them.")
    return said


def _same(table: Confusion) -> str:
    total = sum(sum(row) for row in table.counts)
    same = sum(row[i] for i, row in enumerate(table.counts))
    cuts = ", ".join(f"{short(cut)} for {name}" for cut, name in zip(table.cuts, table.names[1:], strict=True))
    return (
        f"The measure puts {same:,} of {total:,} answers ({percent(same / total)}) where people do; its scores are cut "
        f"halfway between the labels, from {cuts}."
    )


def mean_sentence(one: MeasureCalibration, system: Corrected) -> str:
    """What the measure says of a system, and what it is corrected by people."""
    says = f"{system.system}: {one.measure} says {short(system.measure_mean)}"
    if system.mean is None or system.measure_mean is None:
        return f"{says}; not corrected: {system.why}."
    ends = "" if system.low is None or system.high is None else f" [{short(system.low)}, {short(system.high)}]"
    corrected = f"{says}; corrected by {plural(system.n, 'label')}: {short(system.mean)}{ends}"
    return f"{corrected}; {_kind(system.measure_mean - system.mean, system)}{_worth(system)}."


def _kind(gap: float, system: Corrected) -> str:
    if abs(gap) < _NEAR:
        return "it needs no correction"
    towards = "too high" if gap > 0 else "too low"
    sure = system.low is not None and system.high is not None and system.measure_mean is not None
    inside = sure and (system.low or 0.0) <= (system.measure_mean or 0.0) <= (system.high or 0.0)
    return f"the measure is {short(abs(gap))} {towards}" + (", which may be chance" if inside else "")


def _worth(system: Corrected) -> str:
    if system.low is None or system.high is None:
        return "; all labels are the same, so there is no interval"
    if system.effective is None:
        return ""
    if system.n >= system.n_scored:
        return "; every scored answer is labelled, so the measure adds nothing"
    if system.effective < 1.05 * system.n:
        return "; the measure adds nothing to the labels alone"
    return f"; as sure as {system.effective:,.0f} labels alone would be"


def confidence_sentence(said: Reliability) -> str:
    """Whether a system is as often right as it says."""
    gap = said.confidence - said.accuracy
    how = "about as sure as it is right" if abs(gap) < 0.02 else "too sure of itself" if gap > 0 else "not sure enough"
    left = f"; {said.n_left_out:,} answers with a confidence are left out" if said.n_left_out else ""
    return (
        f"{said.system} is {how}: mean confidence {short(said.confidence)}, right in {percent(said.accuracy)} of "
        f"{plural(said.n, 'answer')}; expected calibration error {short(said.ece_width)} (bins of equal width), "
        f"{short(said.ece_mass)} (of equal size); Brier {short(said.brier)}. Right is {said.correct_by}{left}."
    )
