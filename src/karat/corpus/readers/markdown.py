"""markdown: headings as sections; links and images reduced to their words, code kept as written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from karat.core.docs import Doc, Section
from karat.corpus._file import File, ReadError
from karat.corpus._reader import Reader
from karat.io.decoding import is_binary

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]++(.*+))?$")
_ANCHOR = re.compile(r"\{#[\w:.-]{1,200}[^{}]{0,200}\}$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-+)[ \t]*$")
_NO_PARAGRAPH = re.compile(r"^ {0,3}(?:#{1,6}(?:\s|$)|>|[-*+]\s|\d{1,9}[.)]\s|\||<)|^ {4}|^\t")
_LABEL = r"\[((?:[^\[\]\n]|\n(?![ \t]*\n)){0,1000})\]"
_TARGET = (
    r"\((?:<[^<>\n]{0,2000}>|[^()\s<]{0,2000}(?:\([^()\s]{0,2000}\)[^()\s]{0,2000})?)"
    r"(?:\s{1,9}(?:\"[^\"]{0,1000}\"|'[^']{0,1000}'))?\s{0,9}\)"
)
_IMAGE = re.compile(rf"!{_LABEL}(?:{_TARGET}|\[[^\[\]\n]{{0,200}}\])")
_LINK = re.compile(rf"(?<!\\){_LABEL}(?:{_TARGET}|\[[^\[\]\n]{{0,200}}\])")
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)[^\[\]\n]{1,200}\]:[ \t]+\S+[^\n]*\n?", re.MULTILINE)
_CODE = re.compile(r"(?<!`)(`{1,8})(?!`)[^`\n]+\1(?!`)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_PAIR = re.compile(r"^([A-Za-z][\w .-]{0,60}):[ \t]*+(.*+)$")
_MARKS = re.compile(r"[*_`]|^\s*#+\s*")
_URLS = ("url", "canonical_url", "canonical", "source_url", "permalink", "link")
_HEAD_LINES = 200
_SMALL = 64 << 10  # bytes whose links and headings are found at once, whatever they are
_OF_A_PAIR = re.compile(r"\s|[-#\]}]|$")
_BLOCK = re.compile(r"[|>][-+\d]{0,2}$")


def _sniff(file: File) -> bool | None:
    return False if is_binary(file.head) else None


def _read(file: File) -> Iterator[Doc]:
    facts, body = _front_matter(file.text())
    parsed = _Parsed()
    for code, part in _parts(body):
        parsed.add(part if code else _plain(part), code)
    text = "".join(parsed.parts)
    if not text.strip():
        raise ReadError("empty", "holds no text.", "Leave it out, or restore it.")
    first = next((section.title for section in parsed.sections if section.level == 1), None)
    title = facts.pop("title", None) or first or file.stem
    url = next((facts[name] for name in _URLS if facts.get(name, "").startswith(("http://", "https://"))), None)
    yield Doc(file.id, text, title, url=url, sections=tuple(parsed.sections), meta=facts)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """The `key: value` lines between two lines of ---, and the text after them."""
    if not text.startswith("---\n"):
        return {}, text
    lines = text.split("\n", _HEAD_LINES)
    end = next((n for n, line in enumerate(lines[1:_HEAD_LINES], 1) if line.rstrip() in ("---", "...")), None)
    pairs = [(n, pair) for n, line in enumerate(lines[1:end], 1) if (pair := _PAIR.match(line))]
    if end is None or not pairs or not all(_PAIR.match(line) or _OF_A_PAIR.match(line) for line in lines[1:end]):
        return {}, text
    facts = {}
    for n, pair in pairs:
        value = pair[2].strip()
        if _BLOCK.match(value):  # it stands in the indented lines that follow
            value = " ".join(" ".join(takewhile(_is_indented, lines[n + 1 : end])).split())
        quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
        if value:
            facts[pair[1].strip().lower()] = value[1:-1] if quoted else value
    return facts, "\n".join(lines[end + 1 :]).lstrip("\n")


def _is_indented(line: str) -> bool:
    return not line or line[0].isspace()


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """Stretches of fenced code and of everything else, together the whole text."""
    held: list[str] = []
    fence = ""
    for line in _LINE.findall(text):
        mark = _FENCE.match(line)
        if not fence and mark:
            if held:
                yield False, "".join(held)
            held, fence = [line], mark[1]
        elif fence and mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            yield True, "".join((*held, line))
            held, fence = [], ""
        else:
            held.append(line)
    if held:
        yield bool(fence), "".join(held)


def _plain(text: str) -> str:
    """Links, images and comments reduced to their words; code spans as written."""
    text = _DEFINITION.sub("", _without_comments(text))
    if "](" not in text and "][" not in text:
        return text
    parts: list[str] = []
    done = 0
    for code in _CODE.finditer(text):
        parts += (_reduced(text[done : code.start()]), code[0])
        done = code.end()
    return "".join((*parts, _reduced(text[done:])))


def _without_comments(text: str) -> str:
    parts: list[str] = []
    done = 0
    while (start := text.find("<!--", done)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[done:start])
        done = end + 3
    return "".join((*parts, text[done:]))


def _opened(heading: str) -> str:
    """A heading without the # that may close it."""
    bare = heading.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else heading


def _reduced(text: str) -> str:
    return _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))


@dataclass
class _Parsed:
    """Text as it grows, with the headings met in it."""

    parts: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    length: int = 0

    def add(self, part: str, code: bool) -> None:
        """Append a stretch of text, noting the headings in it unless it is code."""
        if not code:
            before, place = "", self.length
            for line in _LINE.findall(part):
                bare = line.rstrip("\n")
                if atx := _ATX.match(bare.rstrip()):
                    self._heading(_opened(atx[2] or ""), len(atx[1]), place)
                    before = ""
                elif before and (underline := _UNDERLINE.match(bare)):
                    self._heading(before.strip(), 1 if underline[1][0] == "=" else 2, place - len(before) - 1)
                    before = ""
                else:
                    before = "" if not bare.strip() or _NO_PARAGRAPH.match(bare) else bare
                place += len(line)
        self.parts.append(part)
        self.length += len(part)

    def _heading(self, title: str, level: int, start: int) -> None:
        words = " ".join(_MARKS.sub("", _ANCHOR.sub("", title)).split())
        if words:
            self.sections.append(Section(words, level, start))


READER = Reader("markdown", "Markdown", (".md", ".markdown", ".mdown", ".mdx"), _sniff, _read, in_place_below=_SMALL)
