"""Which file names on the two sides mean the same file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError
from karat.match._matcher import column

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import Gold


def _parts(path: str) -> tuple[str, ...]:
    return tuple(p.strip() for p in path.replace("\\", "/").split("/") if p.strip() not in ("", "."))


def _named(values: Iterable[Any]) -> set[str]:
    return {text for v in values if v is not None and (text := str(v).strip())}


def _by_name(paths: Iterable[str]) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """The parts of each path, by the name it ends in."""
    found: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for parts in map(_parts, paths):
        found.setdefault(parts[-1:], []).append(parts)
    return found


def _depth(ours: list[tuple[str, ...]], theirs: list[tuple[str, ...]]) -> int:
    """How many trailing parts of paths that end in one name are compared."""
    longest = max(map(len, ours + theirs), default=1)
    for depth in range(1, longest):
        apart = all(len({p[-depth:] for p in side}) == len(set(side)) for side in (ours, theirs))
        above = {(p[-depth:], p[-depth - 1]) for p in ours + theirs if len(p) > depth}
        if apart and len(above) == len({name for name, _ in above}):
            return depth
    return longest


class FileNames:
    """Names of the files that gold and hits come from, brought to one form.

    Folders differ from machine to machine, so as few of them are compared as tell the files of each side apart; but
    `2020/report.pdf` is not `2021/report.pdf`. An entry without a file is of the only file of the other side; when
    there are several, it is ambiguous, which is an error.
    """

    def __init__(self, golds: Sequence[Gold], runs: Sequence[Run], what: str) -> None:
        self.what = what
        self.golds = _named(g.doc for g in golds)
        self.hits: set[str] = set()
        for run in runs:
            self.hits |= _named(column(run, "doc") or ())
        sides = (_by_name(self.golds), _by_name(self.hits))
        self.depth = {base: _depth(*(side.get(base, []) for side in sides)) for base in {**sides[0], **sides[1]}}
        self.compared = bool(self.golds and self.hits)
        if not self.compared and len(self.golds | self.hits) > 1:
            raise self._ambiguous("gold" if self.golds else "hits", "hits" if self.golds else "gold")
        gold_lacks = any(g.doc is None for g in golds)
        if self.compared and gold_lacks and len({self.of(h) for h in self.hits}) > 1:
            raise self._ambiguous("hits", "gold")

    def of(self, path: Any) -> str:
        """The part of a path that is compared."""
        parts = _parts(str(path))
        return "/".join(parts[-self.depth.get(parts[-1:], 1) :])

    def of_gold(self, gold: Gold) -> str | None:
        """The file of a gold entry, or None when files are not compared."""
        return self._file(gold.doc, self.hits)

    def of_hit(self, doc: Any) -> str | None:
        """The file of a hit, or None when files are not compared."""
        return self._file(doc, self.golds)

    def _file(self, doc: Any, others: set[str]) -> str | None:
        if not self.compared:
            return None
        if doc is not None and str(doc).strip():
            return self.of(doc)
        return self.of(next(iter(others))) if len({self.of(o) for o in others}) == 1 else "\x00"

    def _ambiguous(self, side: str, other: str) -> UsageError:
        files = sorted(self.golds if side == "gold" else self.hits)
        shown = f"{', '.join(files[:3])}{', ...' if len(files) > 3 else ''}"
        lacking = f"the {other} name none" if not self.compared else f"some {other} names none"
        return UsageError(
            f"{self.what} alone are ambiguous: the {side} name {len(files)} files ({shown}) and {lacking}. "
            f'Give every {other.rstrip("s")} entry a "doc".'
        )


def file_keys(names: FileNames, run: Run) -> list[str | None]:
    """The file of every hit of a run."""
    return [names.of_hit(doc) for doc in column(run, "doc") or [None] * len(run)]
