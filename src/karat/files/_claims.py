"""Claims and verdicts of a flat file, a row a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from karat.core.claims import SIDES, VERDICTS, ClaimRows, ClaimTable, PremiseKind, Side
from karat.io.input import Input
from karat.results.evaluation import InputInfo

COLUMNS = (
    "system", "question", "side", "claim", "text", "cites", "importance", "premise", "verdict", "reason", "judge",
    "prompt", "key",
)  # fmt: skip
_WHOLE: dict[str, PremiseKind] = {"reference": "reference", "answer": "answer", "question": "question"}


def read_claims(
    source: Any, systems: Sequence[str], questions: Sequence[str], columns: Mapping[str, str] | None = None
) -> tuple[ClaimTable, InputInfo]:
    """The claims table of a file, a frame or records, for these systems and questions."""
    input = Input.from_any(source, "claims", columns)
    rows = ClaimRows(systems, questions)
    claims: dict[tuple[int, Side], dict[str, tuple[bool, tuple[int, ...]]]] = {}
    verdicts = []
    for number, record in input.raw_rows():
        cells = {name: "" if record.get(name) is None else str(record[name]).strip() for name in COLUMNS}
        for name, known in (
            ("system", systems), ("question", questions), ("side", SIDES), ("verdict", ("", *VERDICTS)),
        ):  # fmt: skip
            if cells[name] not in known:
                raise input.error(
                    f"{name} {cells[name]!r} is none of {', '.join(list(known)[:8])}", row=number, remedy="Correct it."
                )
        side: Side = cells["side"]  # type: ignore[assignment]
        pair = list(systems).index(cells["system"]) * len(questions) + list(questions).index(cells["question"])
        known_claims = claims.setdefault((pair, side), {})
        if cells["claim"] == "0":
            continue
        if not cells["text"]:
            raise input.error("a claim without text", row=number, remedy='Write what is claimed under "text".')
        cites = tuple(int(one) for one in cells["cites"].split(",") if one)
        known_claims[cells["text"]] = cells["importance"] != "okay", cites
        if cells["verdict"]:
            verdicts.append((pair, side, cells))
    for (pair, side), texts in claims.items():
        rows.claims(
            pair,
            side,
            texts,
            vital=[vital for vital, _ in texts.values()],
            cites=[cites for _, cites in texts.values()],
        )
    for pair, side, cells in verdicts:
        place = list(claims[pair, side]).index(cells["text"]) + 1
        kind = _WHOLE.get(cells["premise"], "passages")
        passages = [int(one) for one in cells["premise"].split(",")] if kind == "passages" else []
        rows.verdict(pair, side, place, kind, VERDICTS[cells["verdict"]], passages=passages, reason=cells["reason"])
    what = f"{sum(map(len, claims.values())):,} claims, {len(verdicts):,} verdicts"
    return rows.table(), InputInfo(input.name, "claims", what)
