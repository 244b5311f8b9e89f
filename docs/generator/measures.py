"""The measures: what each declares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docs.generator.markdown import listed, page, table

_OF_ALL = ("rel", "condensed")  # parameters of every ranking measure
_BETTER = {"higher": "higher is better", "lower": "lower is better"}


def measures() -> str:
    """Every built-in measure."""
    from karat.core.measure import MEASURES, Measure

    specs = sorted((s for s in MEASURES if not MEASURES.is_plugin(s.name)), key=lambda s: s.name.lower())
    groups = {
        "Rankings": [s for s in specs if s.stage == "retrieval"],
        "Answers": [s for s in specs if s.stage != "retrieval" and "chat" not in Measure(s).needs],
        "Answers, judged by a language model": [s for s in specs if "chat" in Measure(s).needs],
    }
    parts = []
    for title, members in groups.items():
        parts += [f"## {title}", table(("measure", "definition"), ((_link(s), s.summary) for s in members))]
        for spec in members:
            parts.extend(_measure(spec))
    about = (
        "`karat measures NAME` prints the same. How measures are written, which are computed by default and what holds "
        "for all of them: [Measures](../explanation/measures.md). `[@k]`: the cut-off is optional. Every ranking "
        "measure also takes `rel=GRADE` and, but for a cut by tokens, `condensed`."
    )
    return page("Measures", about, parts)


def _link(spec: Any) -> str:
    cut = f"@{spec.at}" if spec.at else {"none": "", "optional": "[@k]", "required": "@k"}[spec.cut]
    return f"[`{spec.name}{cut}`](#{spec.name.lower()})"


def _measure(spec: Any) -> Iterator[str]:
    from karat.core.measure import Measure
    from karat.core.measure_facts import facts

    about = facts(Measure(spec, k=10 if spec.cut == "required" else None))
    yield f"### {spec.name}"
    yield spec.summary
    yield spec.notes
    rows = {
        "formula": about["formula"],
        "defined by": about["defined_by"],
        "needs": ", ".join(about["needs"]),
        "range": f"{about['range']}, {_BETTER.get(about['better'], 'no direction')}",
        "parameters": listed(p for p in about["parameters"] if p.partition("=")[0] not in _OF_ALL),
        "variants": listed(about["variants"]),
        "also called": listed(about["also_called"]),
        "best for": about["best_for"],
        "prefer": about["prefer"],
    }
    yield "\n".join(f"- {name}: {value}" for name, value in rows.items() if value)
