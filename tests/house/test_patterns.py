"""No regular expression over text from outside may hang: each in `src` is attacked with strings made from itself."""

import ast
import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import FrameType, ModuleType
from typing import Any, NamedTuple

import pytest

import karat
from karat.core.text import refusals

SRC = Path(karat.__file__).parent
METHODS = {"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
ORDINARY = ' a0A.-_\n"я\t,(:'  # tried for every class that takes them, beside the pattern's own characters
SHORT, MIDDLE, LONG = 2_000, 4_000, 32_000  # characters of an attack
QUIET, LOUD, TOO_LOUD = (
    0.002,
    0.1,
    0.5,
)  # seconds: below QUIET at SHORT nothing is repeated, below LOUD at LONG nothing fails
GROWTH = 24  # times the work for eight times the text: 8 is linear, 64 is quadratic
GUARD = 0.6  # seconds of work for one attack: more than TOO_LOUD
TICK = 0.004  # seconds: what a processor's clock may count in

# Patterns that only ever see text of bounded length: where, and how many characters at most.
BOUNDED = {
    "core.text.layout:_CONTENTS": 120,
    "core.text.refusals:_CLAUSE": 600,
    "core.text.refusals:_IT_LACKS": 600,
    "core.text.refusals:_QUOTED": 600,
    "core.text.refusals:_REFUSAL": 600,
    "core.text.sentences:_LAST_WORD": 40,
    "experiment.rules:_SYSTEM": 1_000,
    "testset.offline._patterns:_REASON": 500,
}

# Patterns of a collection, which are called by another name: what is called.
CALLED = dict.fromkeys(
    (
        "core.text.boilerplate:_CONTENTS",
        "core.text.boilerplate:_INDEXED",
        "testset.check.not_a_question:_PATTERNS",
    ),
    "match",
)

# Patterns made of a name that only exists while the function runs: where, and a stand-in.
MADE_LATER = {
    "core.text.refusals:contraction": "|".join(contraction for contraction, _ in refusals._CONTRACTIONS),
    "io.patterns:text": "x",  # the user's own
    "testset.check.not_a_question:pattern": "x",  # of a table, whose patterns are found as they are
}


class Used(NamedTuple):
    where: str
    pattern: "re.Pattern[Any]"
    method: str


def modules() -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages([str(SRC)], "karat."):
        if info.name not in ("karat.__main__", "karat.pool._ray_leader"):  # one runs, the other needs Ray
            yield importlib.import_module(info.name)


def patterns() -> list[Used]:
    compiled: dict[tuple[Any, int], tuple[str, re.Pattern[Any]]] = {}
    methods: dict[tuple[Any, int], set[str]] = {}
    inline: dict[tuple[Any, int, str], Used] = {}
    for module in modules():
        where = module.__name__.removeprefix("karat.")
        for name, pattern in _held(vars(module)):
            compiled.setdefault((pattern.pattern, pattern.flags), (f"{where}:{name}", pattern))
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
                continue
            owner = vars(module).get(node.value.id)
            if isinstance(owner, re.Pattern) and node.attr in METHODS:
                methods.setdefault((owner.pattern, owner.flags), set()).add(node.attr)
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            function = call.func
            if not (isinstance(function, ast.Attribute) and ast.unparse(function.value) == "re"):
                continue
            if function.attr not in {"compile", *METHODS}:
                continue
            text = _text(call.args[0], vars(module), where)
            if text is None:
                continue
            place = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(function.attr, 2)
            given = [*call.args[place:], *(key.value for key in call.keywords if key.arg == "flags")]
            flags = eval(ast.unparse(given[0]), vars(module)) if given else 0  # our own source, not data
            pattern = re.compile(text, flags)
            method = "search" if function.attr == "compile" else function.attr
            if function.attr == "compile" and (pattern.pattern, pattern.flags) in compiled:
                continue
            inline.setdefault((pattern.pattern, pattern.flags, method), Used(f"{where}:{call.lineno}", pattern, method))
    listed = [
        Used(where, pattern, method)
        for key, (where, pattern) in compiled.items()
        for method in sorted(methods.get(key, {CALLED.get(where, "search")}))
    ]
    return [*listed, *inline.values()]


def _held(names: dict[str, Any]) -> Iterator[tuple[str, "re.Pattern[Any]"]]:
    """The compiled patterns a module holds, alone or in a collection."""
    for name, value in names.items():
        if name.startswith("__"):
            continue
        inside: Iterable[Any] = (value,)
        if isinstance(value, dict):
            inside = [*value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            inside = value
        for one in inside:
            for member in one if isinstance(one, tuple) else (one,):
                if isinstance(member, re.Pattern):
                    yield name, member


def _text(node: ast.expr, names: dict[str, Any], where: str) -> str | bytes | None:
    """The pattern an expression of the source stands for; what is only known later is an `x`."""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else str(_value(part.value, names, "x"))
            for part in node.values
        )
    value = _value(node, names, None)
    if value is None:
        value = MADE_LATER.get(f"{where}:{ast.unparse(node)}")
        assert value is not None, f"{where}: name a stand-in for the pattern {ast.unparse(node)} in MADE_LATER"
    return value.pattern if isinstance(value, re.Pattern) else value


def _value(node: ast.expr, names: dict[str, Any], other: Any) -> Any:
    try:
        return eval(ast.unparse(node), dict(names))
    except (NameError, AttributeError):
        return other


def sample(items: Iterable[Any], turn: int) -> str:
    """A string the parsed pattern takes, another one each turn."""
    return "".join(_sample(kind, argument, turn) for kind, argument in items)


def _sample(kind: Any, argument: Any, turn: int) -> str:
    if kind is sre.LITERAL:
        return chr(argument)
    if kind in (sre.ANY, sre.NOT_LITERAL, sre.IN):
        return _member(kind, argument, turn)
    if kind is sre.BRANCH:
        return sample(argument[1][turn % len(argument[1])], turn)
    if kind is sre.SUBPATTERN:
        return sample(argument[3], turn)
    if kind is sre.ATOMIC_GROUP:
        return sample(argument, turn)
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, body = argument
        return sample(body, turn) * min(max(least, turn % 2), most)
    if kind is sre.ASSERT and argument[0] < 0:
        return sample(argument[1], turn)
    return ""


def _member(kind: Any, argument: Any, turn: int) -> str:
    if kind is sre.ANY:
        return ORDINARY[turn % len(ORDINARY)]
    written = [(sre.NEGATE, None), (sre.LITERAL, argument)] if kind is sre.NOT_LITERAL else argument
    members = [character for character in ORDINARY if _takes(written, character)]
    for inner, value in written:
        if inner is sre.LITERAL and written[0][0] is not sre.NEGATE:
            members.append(chr(value))
        elif inner is sre.RANGE and written[0][0] is not sre.NEGATE:
            members.append(chr(value[0]))
    return members[turn % len(members)] if members else "x"


def _takes(written: list[Any], character: str) -> bool:
    negated = written[0][0] is sre.NEGATE
    for kind, value in written:
        if kind is sre.LITERAL:
            inside = ord(character) == value
        elif kind is sre.RANGE:
            inside = value[0] <= ord(character) <= value[1]
        elif kind is sre.CATEGORY:
            letter = str(value).rpartition("_")[2]
            inside = {"DIGIT": character.isdigit(), "SPACE": character.isspace()}.get(
                letter, character.isalnum() or character == "_"
            ) != ("_NOT_" in str(value))
        else:
            continue
        if inside:
            return not negated
    return negated


def pumps(items: Any, before: str, turn: int) -> Iterator[tuple[str, str]]:
    """What stands before a part of a pattern, and the part, to be repeated."""
    sequence = list(items)
    for place, (kind, argument) in enumerate(sequence):
        ahead = before + sample(sequence[:place], turn)
        inner: list[Any] = []
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            inner = [argument[2]]
        elif kind is sre.BRANCH:
            inner = argument[1]
        elif kind is sre.SUBPATTERN:
            inner = [argument[3]]
        elif kind is sre.ATOMIC_GROUP:
            inner = [argument]
        elif kind in (sre.ASSERT, sre.ASSERT_NOT):
            inner = [argument[1]]
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            body = sample(argument[2], turn)
            yield ahead, body
            yield "", ahead + body
            yield "", ahead
        for part in inner:
            yield from pumps(part, ahead, turn)
    yield before, sample(sequence, turn)


def attacks(pattern: "re.Pattern[Any]", thorough: bool) -> list[tuple[str, str, str]]:
    """Prefix, what is repeated, and tail."""
    text = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = _parser.parse(text, pattern.flags & re.VERBOSE)
    turns = (6 if len(text) < 1_000 else 2) if thorough else 2
    parts = {pump for turn in range(turns) for pump in pumps(tree, "", turn)}
    own = sorted({character for _, pump in parts for character in pump[:3]})
    letters = sorted({*(ORDINARY if thorough else ORDINARY[:8]), *own[: 24 if thorough else 8]})
    parts |= {("", letter) for letter in letters}
    if thorough:
        parts |= {(first, letter) for first in sorted({before for before, _ in parts})[:40] for letter in " a0.-"}
        parts |= {("", first + letter) for first in letters[:12] for letter in " a0.-" if first != letter}
    chosen = sorted((before, pump) for before, pump in parts if pump)
    chosen = chosen[:: 1 + len(chosen) // (400 if thorough else 30)]
    return [(before, pump, tail) for before, pump in chosen for tail in ("", "\0", "\n!")]


class _TooLongError(Exception):
    pass


def seconds(used: Used, attack: tuple[str, str, str], size: int) -> tuple[float, float]:
    """How long an attack takes by the clock, and how much of it is work."""
    before, pump, tail = attack
    text: str | bytes = before + pump * (size // len(pump)) + tail
    if isinstance(used.pattern.pattern, bytes):
        text = text.encode("latin-1", "replace")

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooLongError

    earlier = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, GUARD)
    clock, work = time.perf_counter(), time.process_time()
    try:
        if used.method in ("sub", "subn"):
            used.pattern.sub(text[:0], text)
        elif used.method == "finditer":
            for _ in used.pattern.finditer(text):
                pass
        else:
            getattr(used.pattern, used.method)(text)
    except _TooLongError:
        return GUARD, GUARD
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, earlier)
    return time.perf_counter() - clock, time.process_time() - work


def slowness(used: Used, thorough: bool) -> str | None:
    """How a pattern can be made to take more than linear time, or None."""
    quiet = QUIET
    for attack in attacks(used.pattern, thorough):
        if used.where in BOUNDED:
            if seconds(used, attack, BOUNDED[used.where])[1] > LOUD:
                return f"{used.where} {used.method}: {attack!r:.120} takes long within its bound"
            continue
        short = seconds(used, attack, SHORT)[0]
        if short < quiet:
            continue
        quiet = 1.5 * short  # what comes is only worth repeating where it is worse
        long = seconds(used, attack, LONG)[1]
        if long < LOUD:
            continue
        if long > TOO_LOUD or long / max(seconds(used, attack, MIDDLE)[1], TICK) > GROWTH:
            return f"{used.where} {used.method}: {attack!r:.120} takes {short:.3f} s, sixteen times of it {long:.3f} s"
    return None


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:a|b?)*c",
        r"\s+$",
        pytest.param(r"<!--.*?-->", marks=pytest.mark.slow),
        pytest.param(r"(?:\s*-\s*)+!", marks=pytest.mark.slow),
    ],
)
def test_a_pattern_that_hangs_is_found(pattern):
    assert slowness(Used("here", re.compile(pattern), "search"), thorough=False)


@pytest.mark.parametrize("pattern", [r"a+b?", r"\s++(?=\S)", r"[^<>]*+>", r"(?<!\s)\s++$", "(?:x|y)z{0,50}"])
def test_a_linear_pattern_is_not(pattern):
    assert slowness(Used("here", re.compile(pattern), "match"), thorough=True) is None


@pytest.mark.parametrize("thorough", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_pattern_is_linear(thorough):
    used = patterns()
    assert len(used) > 200
    assert BOUNDED.keys() | CALLED.keys() <= {one.where for one in used}
    assert [why for one in used if (why := slowness(one, thorough))] == []
