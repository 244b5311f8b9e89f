"""Printed page numbers: what to say of gold that may mean them, where pages go by their number in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.text.words import plural
from karat.io.pages import page_of

if TYPE_CHECKING:
    from karat.match._resolve import Resolution


def printed_elsewhere(resolution: Resolution) -> list[str]:
    """What to say of gold pages whose number is printed on another page; nothing where pages are shifted."""
    table = resolution.index
    if table.pages != "physical" or resolution.options.page_offset or not resolution.rows_on_page:
        return []
    bearing: dict[tuple[str, str], set[int]] = {}
    columns = zip(table.names, *map(table.chunks.column, ("pages", "labels")), strict=True)
    for doc, numbers, labels in set(columns):
        if len(numbers) == len(labels):
            for number, label in zip(numbers, labels, strict=True):
                bearing.setdefault((doc, page_of(label) or ""), set()).add(number)
    places = []
    for unit in range(len(resolution.units.key)):
        place = resolution.page_of_unit(unit)
        rows = None if place is None else resolution.rows_on_page.get(place)
        if place is not None and rows is not None:
            doc, page = table.names[rows[0]], place[1]
            others = bearing.get((doc, page), set())
            if others and page not in map(str, others):
                places.append(f"page {min(others)} of {doc} is printed {page}")
    if not places:
        return []
    return [
        f"{plural(len(places), 'gold page')} read by the number in the file, while another page bears that number in "
        f"print ({places[0]}). If the gold means printed numbers, add --pages printed."
    ]
