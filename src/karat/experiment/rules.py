"""Rules: `Recall@5[kind=factual] >= baseline - 0.02 @95%` read by hand, so that a mistake is told with its place.

rule    = [system ": "] subject ["[" name "=" value {"," name "=" value} "]"] sign bound ["@" level "%"]
sign    = ">=" | "<=" | "==" | "!=" | ">" | "<"
bound   = number ["%"] | "baseline" ["*" number ["%"]] [("+" | "-") number]
"""

from __future__ import annotations

import math
import re
from typing import NoReturn

from karat.core.errors import UsageError, did_you_mean
from karat.results.gating import SIGNS, Rule, Sign

EXAMPLE = '"Recall@5 >= 0.6"'
BASELINE = "baseline"
_NUMBER = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_COMMA = re.compile(r",\d+")
_WORD = re.compile(r"[^\W\d]\w*")
_SYSTEM = re.compile(r"(?P<name>[^\[\"']+?)\s*:\s")
_SWAPPED = {"=>": ">=", "=<": "<=", "=": "==", "=!": "!=", "<>": "!="}
_SPELLED: dict[str, Sign] = {"≥": ">=", "≤": "<=", "≠": "!="}
_LONGEST = 1000


def parse_rules(texts: list[str] | tuple[str, ...]) -> tuple[Rule, ...]:
    """Each text as a rule; one that is written twice counts once."""
    return tuple({rule.text: rule for rule in map(parse_rule, texts)}.values())


def parse_rule(text: str) -> Rule:
    """The rule that a text says.

    >>> rule = parse_rule("balanced: Recall@5[kind=factual] >= baseline - 0.02 @95%")
    >>> rule.system, rule.subject, rule.where, rule.sign, rule.bound, rule.confidence
    ('balanced', 'Recall@5', (('kind', 'factual'),), '>=', 'baseline - 0.02', 0.95)
    """
    return _RuleReader(text).rule()


class _RuleReader:
    """A text and how far it is read."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text.strip(), 0

    def rule(self) -> Rule:
        if not self.text:
            raise UsageError(f"a rule is empty. Write one like {EXAMPLE}.")
        if len(self.text) > _LONGEST or not self.text.isprintable():
            raise UsageError(f"a rule is one line of at most {_LONGEST:,} characters, like {EXAMPLE}.")
        system = self._system()
        subject = self._subject()
        where = self._where()
        sign = self._sign()
        factor, number = self._bound()
        confidence = self._confidence(sign)
        self._space()
        if self.at < len(self.text):
            self._wrong(f"{self.text[self.at :]!r} is left over. One rule has one bound; give others as further rules")
        return Rule(
            text=self.text,
            subject=subject,
            sign=sign,
            number=number,
            system=system,
            where=where,
            factor=factor,
            confidence=confidence,
        )

    def _wrong(self, problem: str, at: int | None = None) -> NoReturn:
        place = (self.at if at is None else at) + 1
        raise UsageError(
            f"rule {self.text!r}, position {place}: {problem}{'' if problem.endswith(('?', '.')) else '.'}"
        )

    def _space(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _takes(self, wanted: str) -> bool:
        self._space()
        if not self.text.startswith(wanted, self.at):
            return False
        self.at += len(wanted)
        return True

    def _quoted(self) -> str | None:
        """A text between quotes, which may hold anything but that quote."""
        self._space()
        mark = self.text[self.at : self.at + 1]
        if mark not in ('"', "'") or not mark:
            return None
        end = self.text.find(mark, self.at + 1)
        if end < 0:
            self._wrong(f"a quote {mark} is opened and not closed")
        quoted, self.at = self.text[self.at + 1 : end], end + 1
        return quoted

    def _system(self) -> str | None:
        name = self._quoted()
        if name is not None:
            if not self._takes(":"):
                self._wrong("a system's name in quotes is followed by a colon and what it is held to")
            return name
        match = _SYSTEM.match(self.text)
        if match is None:
            return None
        self.at = match.end()
        return match["name"].strip()

    def _subject(self) -> str:
        self._space()
        start, depth = self.at, 0
        while self.at < len(self.text):
            mark = self.text[self.at]
            if depth <= 0 and (mark in "[<>=!" or mark in _SPELLED):
                break
            depth += (mark == "(") - (mark == ")")
            self.at += 1
        subject = self.text[start : self.at].strip()
        if not subject:
            self._wrong(f"a measure, count, time or cost is missing before this. Write a rule like {EXAMPLE}", start)
        if self.at == len(self.text):
            self._wrong(f"no comparison follows {subject!r}. Write a rule like {EXAMPLE}")
        return subject

    def _where(self) -> tuple[tuple[str, str], ...]:
        conditions = []
        if not self._takes("["):
            return ()
        while True:
            name = self._quoted() or self._bare("=,]").strip()
            if not name or not self._takes("="):
                self._wrong("write a slice as name=value, such as [kind=factual]")
            quoted = self._quoted()
            value = quoted if quoted is not None else self._bare(",]").strip()
            if not value:
                self._wrong("the slice has no value. Write it as name=value, such as [kind=factual]")
            conditions.append((name, value))
            if self._takes("]"):
                return tuple(conditions)
            if not self._takes(","):
                self._wrong("the slice is not closed: a ] is missing")

    def _bare(self, ends: str) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in ends:
            self.at += 1
        return self.text[start : self.at]

    def _sign(self) -> Sign:
        self._space()
        for written, meant in _SPELLED.items():
            if self._takes(written):
                return meant
        for sign in SIGNS:
            if sign == "<" and self._is_at("<>"):
                continue
            if self._takes(sign):
                if self.at < len(self.text) and self.text[self.at] in "<>=!":
                    self._wrong(f"{self.text[self.at - len(sign) : self.at + 1]!r} is no comparison. {_OFFERED}")
                return sign
        near = next((f"{a!r} is no comparison. Did you mean {b}?" for a, b in _SWAPPED.items() if self._is_at(a)), "")
        return self._wrong(near or f"a comparison is missing. {_OFFERED}")

    def _is_at(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def _bound(self) -> tuple[float | None, float]:
        self._space()
        word = _WORD.match(self.text, self.at)
        if word is None:
            return None, self._number(signed=True)
        if word[0].lower() != BASELINE:
            near = did_you_mean(word[0], [BASELINE])
            self._wrong(f"{word[0]!r} is neither a number nor baseline.{near}")
        self.at = word.end()
        factor, number = 1.0, 0.0
        if self._takes("*"):
            start = self.at
            factor = self._number()
            if factor <= 0:
                self._wrong("the baseline is multiplied by a number above 0", start)
        for mark, ours in (("+", 1.0), ("-", -1.0)):
            if self._takes(mark):
                start = self.at
                number = ours * self._number()
                if self.text[start : self.at].endswith("%"):
                    share = abs(number)
                    self._wrong(
                        f"a percentage of what? Write baseline {mark} {share:g} for points, or baseline * "
                        f"{1 + ours * share:g} for a share of the baseline",
                        start,
                    )
                break
        return factor, number

    def _number(self, *, signed: bool = False) -> float:
        self._space()
        start = self.at
        minus = signed and self._takes("-")
        if signed and not minus:
            self._takes("+")
        self._space()
        match = _NUMBER.match(self.text, self.at)
        if match is None:
            self._wrong("a number is missing", start)
        self.at = match.end()
        if (comma := _COMMA.match(self.text, self.at)) is not None:
            self._wrong(f"{match[0]}{comma[0]} is no number. Write {match[0]}.{comma[0][1:]}, with a point", start)
        value = float(match[0])
        if not math.isfinite(value):
            self._wrong(f"{match[0]} is no number that can be compared with", start)
        if self.text.startswith("%", self.at):
            self.at += 1
            value = float(f"{value / 100:.15g}")
        return -value if minus else value

    def _confidence(self, sign: Sign) -> float | None:
        if not self._takes("@"):
            return None
        start = self.at
        level = self._number()
        if not self.text[start : self.at].endswith("%") or not 0.5 <= level < 1:
            self._wrong("confidence is written as a percentage from 50% to below 100%, such as @95%", start)
        if sign in ("==", "!="):
            self._wrong("confidence needs >=, <=, > or <: no interval is equal to a number", start)
        return level


_OFFERED = f"There are {', '.join(SIGNS)}."
