"""Cells: single values of a record made into karat's: ids, pages, grades, numbers, lists.

Each function takes whatever JSON, CSV, Parquet or a frame gives and raises CellError for what it cannot be; the reader
that knows file and row turns that into an InputError.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from karat.core.text.wellformed import well_formed, well_formed_values

Record = dict[str, Any]

NOTHING = frozenset({"", "n/a", "na", "none", "null", "nan", "-", "?", "unknown"})
"""What files write, in any case, where there is no page or no label. An id may be called so."""

LITERAL_LIMIT = 16 << 20
GRADE_LIMIT = 1 << 31

_STRING = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_COMMA = re.compile(r"[+-]?\d*,\d+")
_TOKEN = re.compile(
    rf"\s*(?:np\.\w+\(\s*)?(?P<value>{_STRING}|[-+]?\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?|None|nan|True|False)"
    r"(?:\s*\))?\s*(?P<comma>,?)",
    re.DOTALL,
)
_USAGE = (
    ("total_tokens", "total"),
    ("prompt_tokens", "input_tokens", "prompt", "input"),
    ("completion_tokens", "output_tokens", "completion", "output"),
)
_FLOAT_ID = re.compile(r"\d+\.0")
_TRUE = frozenset({"true", "yes", "y", "1", "t"})
_FALSE = frozenset({"false", "no", "n", "0", "f"})


class CellError(ValueError):
    """A value that cannot be what its field asks for."""

    def __init__(self, problem: str, remedy: str | None = None) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


def quoted(value: Any, size: int = 60) -> str:
    """A value as messages quote it, cut short."""
    try:
        text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    except (RecursionError, ValueError):
        text = type(value).__name__
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= size else text[: size - 3] + "..."


def is_missing(value: Any) -> bool:
    """None, NaN, or text of nothing but blanks."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return isinstance(value, str) and not value.strip()


def id_text(value: Any) -> str:
    """An id as text: 7 and 7.0 are "7"; blanks around text are dropped.

    >>> id_text(7.0), id_text(" q7 "), id_text(0)
    ('7', 'q7', '0')
    """
    if isinstance(value, str):
        text = value.strip()
        if text:
            return well_formed(text)
    elif isinstance(value, int) and not isinstance(value, bool):
        try:
            return str(value)
        except ValueError:  # as Python says of them
            raise CellError("a number of thousands of digits is no id", "Give text.") from None
    elif isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    raise CellError(f"{quoted(value)} is no id", "Give text or a whole number.")


def id_texts(values: Sequence[Any]) -> list[str]:
    """The same of many, at once where all are plain text."""
    if set(map(type, values)) == {str}:
        texts = [value.strip() for value in values]
        if all(texts) and well_formed(joined := "".join(texts)) == joined:
            return texts
    return list(map(id_text, values))


def were_floats(ids: Iterable[str | None]) -> bool:
    """Whether the ids of a text column were a column of floats before it was written: each filled cell reads "7.0".

    >>> were_floats(["7.0", None, "12.0"]), were_floats(["7.0", "7.1"]), were_floats(["7.0", "8"])
    (True, False, False)
    """
    return all(_FLOAT_ID.fullmatch(text) for text in ids if text)


def plain_text(value: Any) -> str:
    """Text, or a number or truth value written out."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return id_text(value)
    raise CellError(f"{quoted(value)} is no text", "Give text.")


def filled_texts(values: Sequence[Any]) -> list[str]:
    """Many texts, none of them missing."""
    if set(map(type, values)) == {str} and all(map(str.strip, values)):
        return list(values)
    raise CellError("not all are filled texts")


def whole_number(value: Any, what: str = "grade") -> int:
    """A whole number; 3.0 is 3."""
    number: float | int = math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str):
        with suppress(ValueError):
            number = int(value) if value.strip().lstrip("+-").isdecimal() else float(value)
    if isinstance(number, float) and not number.is_integer():
        raise CellError(f"{what} {quoted(value)} is not a whole number", "Use 0, 1, 2, ...")
    if abs(number) >= GRADE_LIMIT:
        raise CellError(f"{what} {quoted(value)} is out of range", f"Use a number below {GRADE_LIMIT}.")
    return int(number)


def finite_number(value: Any, what: str = "score") -> float:
    """A finite number."""
    if type(value) is float and math.isfinite(value):
        return value
    number = math.nan
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            number = float(value)
    if not math.isfinite(number):
        remedy = "Give every hit a number, or none of them." if what == "score" else "Give a number, or leave it out."
        raise CellError(f"{what} {quoted(value)} is not a finite number", with_point(value) or remedy)
    return number


def known_number(value: Any) -> float | None:
    """A finite number, None for anything else."""
    with suppress(CellError):
        return None if value is None else finite_number(value)
    return None


def with_point(value: Any) -> str:
    """What to do about a number with a decimal comma; "" for all else."""
    written = isinstance(value, str) and _COMMA.fullmatch(value.strip())
    return f'Write "{value.strip().replace(",", ".")}": decimals follow a point.' if written else ""


def amount(value: Any, what: str) -> float:
    """A finite number of 0 or more, as seconds, tokens and costs are: -1 often stands for one that is not known."""
    number = finite_number(value, what)
    if number < 0:
        raise CellError(f"{what} {quoted(value)} is below 0", "Give a number from 0 up, or leave it out.")
    return number


def finite_numbers(values: Sequence[Any]) -> list[float]:
    """The same of many scores, at once where all are floats."""
    if set(map(type, values)) == {float} and all(map(math.isfinite, values)):
        return list(values)
    return list(map(finite_number, values))


def truth_value(value: Any) -> bool:
    """True or false, in the ways files write it."""
    if isinstance(value, bool):
        return value
    text = plain_text(value).strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise CellError(f"{quoted(value)} is neither true nor false", "Write true or false.")


def as_list(value: Any) -> list[Any] | None:
    """The items of a list, a JSON list, a Python literal list, or of one value; None where nothing is given."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if is_missing(value):
        return None
    return _parsed_list(value.strip()) if isinstance(value, str) and value.strip()[:1] in ("[", "(") else [value]


def as_object(value: Any) -> Any:
    """The object that a cell of a table holds as JSON; every other value as it is."""
    if isinstance(value, str) and value.strip()[:1] == "{" and value.strip()[-1:] == "}":
        with suppress(ValueError, RecursionError):
            return well_formed_values(json.loads(value))
    return value


def _parsed_list(text: str) -> list[Any]:
    """A JSON list, or a flat list as Python or numpy prints it; read by hand, never evaluated.

    >>> _parsed_list("['8', 'N/A']"), _parsed_list("['8' '9']"), _parsed_list("[1, 2]")
    (['8', 'N/A'], ['8', '9'], [1, 2])
    """
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        items = None
    if isinstance(items, list):
        return [well_formed_values(item) for item in items]
    if len(text) > LITERAL_LIMIT:
        raise CellError(f"a list of more than {LITERAL_LIMIT >> 20} MB in one cell", "Write it as JSON.")
    literals = _literal_items(text)
    if literals is None:
        raise CellError(f"{quoted(text)} is not a list", 'Write a JSON list, as in ["a", "b"].')
    return literals


def _literal_items(text: str) -> list[Any] | None:
    if len(text) < 2 or text[0] + text[-1] not in ("[]", "()"):
        return None
    place, end = 1, len(text) - 1
    items: list[Any] = []
    commas: list[bool] = []
    while text[place:end].strip() if end - place < 64 else True:
        token = _TOKEN.match(text, place, end)
        if token is None:
            return None
        literal = token["value"]
        try:
            items.append(None if literal == "nan" else ast.literal_eval(literal))
        except (ValueError, SyntaxError, MemoryError):
            return None
        commas.append(bool(token["comma"]))
        place = token.end()
    # numpy writes no commas at all; a list with some commas missing is damaged
    between = commas[:-1]
    return items if all(between) or not any(commas) else None


def page_items(value: Any) -> list[Any]:
    """The pages of a list-valued cell; "34, 35" and "34|35" are two."""
    items = as_list(value) or []
    if len(items) == 1 and isinstance(items[0], str):
        parts = [part.strip() for part in re.split(r"[,;|]", items[0])]
        return parts if all(part.isdecimal() for part in parts) else items
    return items


def ids_of(value: Any) -> list[str | None] | None:
    """The ids of a list-valued cell; None where it gives none, as NaN does, and for an item that is none of several.

    >>> ids_of("['a', 7]"), ids_of("nan"), ids_of([float("nan")]), ids_of(["a", None]), ids_of([])
    (['a', '7'], None, None, ['a', None], [])
    """
    items = as_list(value)
    if items is None:
        return None
    ids = [None if is_missing(item) or str(item).strip().lower() == "nan" else id_text(item) for item in items]
    return ids if not ids or any(item is not None for item in ids) else None


def can_be(convert: Callable[[Any], Any], value: Any) -> bool:
    """Whether a value converts: `can_be(float, "1e3")`, `can_be(whole_number, 3.0)`."""
    try:
        convert(value)
    except ValueError:
        return False
    return True


def total_of(parts: Mapping[str, Any]) -> float | None:
    """The total of an object such as OpenAI's `usage`: as given, else its parts added; None where parts are missing.

    What was read and what was written make a total: counts beside them (cached, reasoning) are parts of those two.
    """
    numbers = {k: v for k, v in parts.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    total, read, written = (next((numbers[n] for n in names if n in numbers), None) for names in _USAGE)
    if total is not None:
        return total
    if read is None and written is None:
        return sum(numbers.values()) if numbers else None
    return None if read is None or written is None else read + written
