"""A rule has one home: no two places of the source say the same for several statements."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "karat"
MANY = 6  # statements: fewer are alike by chance, such as reading a file and refusing what it is not
BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


def said(node: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, text) of the statements in a block, in order: of one that holds others its head, then those.

    Imports and docstrings say nothing here. How a statement is broken into lines does not matter.
    """
    for block in BLOCKS:
        for inner in getattr(node, block, ()):
            if isinstance(inner, ast.Import | ast.ImportFrom):
                continue
            if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant):
                continue
            head = [_dumped(part) for name, part in ast.iter_fields(inner) if name not in BLOCKS]
            whole = not any(getattr(inner, name, None) for name in BLOCKS)
            line = inner.pattern.lineno if isinstance(inner, ast.match_case) else inner.lineno
            yield line, ast.dump(inner) if whole else f"{type(inner).__name__} {head}"
            yield from said(inner)


def _dumped(part: object) -> str:
    if isinstance(part, list):
        return " ".join(map(_dumped, part))
    return ast.dump(part) if isinstance(part, ast.AST) else str(part)


def repeated(sources: dict[str, str], many: int = MANY) -> list[str]:
    """Where as many statements stand that stand elsewhere too."""
    places = defaultdict(list)
    for name, text in sources.items():
        statements = list(said(ast.parse(text)))
        for start in range(len(statements) - many + 1):
            window = statements[start : start + many]
            places[tuple(text for _, text in window)].append(f"{name}:{window[0][0]}-{window[-1][0]}")
    return [" = ".join(alike) for alike in places.values() if len(alike) > 1]


@pytest.mark.slow
def test_no_two_places_of_the_source_say_the_same():
    sources = {str(path.relative_to(SRC)): path.read_text(encoding="utf-8") for path in sorted(SRC.rglob("*.py"))}
    assert len(sources) > 100
    assert repeated(sources) == []


ONE = '''
def total(rows):
    """What they cost."""
    cost = 0
    for row in rows:
        if row.cost:
            cost += row.cost
        else:
            cost += 1
    return cost
'''


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (ONE.replace("What they cost", "Another"), True),
        (ONE.replace("rows:", "rows:  # all").replace("return cost", "return (\n        cost\n    )"), True),
        (ONE.replace("cost = 0", "cost = 1"), False),
        ("import os\n" + ONE.replace("cost", "price"), False),
    ],
    ids=["docstring", "layout", "a value", "names"],
)
def test_what_is_alike_is_found_wherever_it_stands(other, alike):
    assert bool(repeated({"one": ONE, "other": other})) is alike
