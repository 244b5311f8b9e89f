"""html: the page's own text, headings as sections, tables as rows, by selectolax."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any

from karat.core.docs import Doc, Section
from karat.corpus._file import File, ReadError
from karat.corpus._reader import Reader
from karat.io.decoding import cleaned, is_binary

_OPENING = re.compile(
    rb"^\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--(?>.{0,2000}?-->)\s*+)*+(?:<!doctype\s+html|<html[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_CHARSET = re.compile(rb"<meta[^>]{0,300}?charset\s*+=\s*+[\"']?+\s*+([\w:.-]{2,40})", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w:.-]{2,40})", re.IGNORECASE)
_SAVED = re.compile(r"<!-- *saved from url=\(\d+\)(\S{1,2000})")
_SMALL = 8 << 10  # bytes that take 350 MB of the parser's memory at worst: open inline elements, repeated in paragraphs
_NEVER = frozenset((
    "script", "style", "template", "noscript", "svg", "iframe", "object", "embed", "canvas", "audio", "video",
    "head", "select", "datalist", "textarea", "button", "dialog", "-comment",
))  # fmt: skip
_FRAME = frozenset({"nav", "footer", "aside", "header"})
_FRAME_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary"})
_OWN = frozenset({"main", "article"})
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_PARAGRAPHS = frozenset((
    "address", "article", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html",
    "legend", "main", "menu", "nav", "ol", "option", "p", "pre", "section", "summary", "table", "tbody", "tfoot",
    "thead", "tr", "ul", "li", "aside",
))  # fmt: skip

DEPTH_LIMIT = 500
_BLANKS = re.compile(r"[ \t\n\r\f\v\u00a0]+")
_CELL = " | "

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)")
_VOID = frozenset((
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
))  # fmt: skip
_CLOSED_BY_THE_NEXT = frozenset((
    "p", "li", "dt", "dd", "tr", "td", "th", "tbody", "thead", "tfoot", "option", "optgroup", "html", "head", "body",
))  # fmt: skip
_INLINE = frozenset((
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u", "span",
))  # fmt: skip
_DROPPED = ("svg", "script", "style")


def _sniff(file: File) -> bool | None:
    if is_binary(file.head):
        return False
    return True if _OPENING.match(file.head.removeprefix(codecs.BOM_UTF8)) else None


def _read(file: File) -> Iterator[Doc]:
    from selectolax.lexbor import LexborHTMLParser

    declared = _XML_ENCODING.match(file.head) or _CHARSET.search(file.head[:8192])
    text = file.text(declared[1].decode("ascii", "replace") if declared else None)
    markup, depth = shallow_markup(text)
    if depth:
        file.problem("nested", f"{depth:,} elements are open at once; those far inside are read as plain text.")
    tree = LexborHTMLParser(markup)
    for whole in (False, True):
        lines = _walked(tree, whole=whole)
        body = lines.text
        if body.strip():
            break
    else:
        raise ReadError("empty", "holds no text; it may be made by scripts.", "Save the page as the browser shows it.")
    title = _one_line(tree.css_first("head > title"))
    first = next((section.title for section in lines.sections if section.level == 1), None)
    yield Doc(
        file.id, body, title or first or file.stem, url=_url(tree, text), sections=tuple(lines.sections)
    )  # fmt: skip


def _walked(tree: Any, *, whole: bool) -> _LineBuilder:
    """The text of the body; `whole` keeps navigation, headers and footers."""
    lines = _LineBuilder()
    layout = _layout_tables(tree)
    stack: list[tuple[Any, bool, bool]] = [(tree.body, False, False)] if tree.body is not None else []
    while stack:
        node, own, leaving = stack.pop()
        tag = node.tag or ""
        if node.is_text_node:
            lines.add(cleaned(node.text_content or ""))
            continue
        if leaving:
            _leave(node, tag, lines, layout)
            continue
        if tag in _NEVER or (tag != "body" and _is_hidden(node)) or (not whole and not own and _is_frame(node, tag)):
            if tag in _PARAGRAPHS:
                lines.end_line()
            continue
        _enter(node, tag, lines, layout)
        stack.append((node, own, True))
        child = node.last_child
        own = own or tag in _OWN
        while child is not None:
            stack.append((child, own, False))
            child = child.prev
    return lines


def _enter(node: Any, tag: str, lines: _LineBuilder, layout: set[int]) -> None:
    if tag in ("td", "th"):
        if _is_laid_out(node.parent, layout):
            lines.end_line()
        else:
            lines.begin_cell()
        return
    if tag == "br":
        lines.end_line()
        return
    if tag in _PARAGRAPHS:
        lines.end_line()
    if tag == "li":
        lines.begin_item()
    elif tag == "pre":
        lines.verbatim += 1
    elif len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
        lines.begin_heading(int(tag[1]))
    elif tag == "tr" and not _is_laid_out(node, layout):
        lines.begin_row()


def _leave(node: Any, tag: str, lines: _LineBuilder, layout: set[int]) -> None:
    if tag == "pre":
        lines.verbatim -= 1
    elif len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
        lines.end_heading()
    elif tag == "tr" and not _is_laid_out(node, layout):
        lines.end_row()
    if tag in _PARAGRAPHS:
        lines.end_line()


def _layout_tables(tree: Any) -> set[int]:
    """Tables that lay out a page rather than hold data: those with tables, headings or code within them."""
    tables: set[int] = set()
    for inner in tree.css("table table, table h1, table h2, table h3, table h4, table h5, table h6, table pre"):
        node = inner.parent
        while node is not None:
            if node.tag == "table":
                if node.mem_id in tables:
                    break
                tables.add(node.mem_id)
            node = node.parent
    return tables


def _is_laid_out(row: Any, layout: set[int]) -> bool:
    node = row
    while node is not None and node.tag in ("tr", "tbody", "thead", "tfoot"):
        node = node.parent
    return node is None or node.tag != "table" or node.mem_id in layout


def _is_hidden(node: Any) -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style")
    return bool(style and _HIDDEN_STYLE.search(style))


def _is_frame(node: Any, tag: str) -> bool:
    """Whether an element outside the article is what surrounds every page of a site."""
    if tag == "header":
        return node.css_first("h1") is None
    return tag in _FRAME or node.attributes.get("role") in _FRAME_ROLES


def _url(tree: Any, text: str) -> str | None:
    for query, attribute in (("link[rel=canonical]", "href"), ('meta[property="og:url"]', "content")):
        node = tree.css_first(query)
        value = cleaned((node.attributes.get(attribute) if node is not None else None) or "").strip()
        if value.startswith(("http://", "https://")):
            return value
    saved = _SAVED.search(text[:8192])
    return saved[1] if saved and saved[1].startswith(("http://", "https://")) else None


def _one_line(node: Any) -> str:
    return " ".join(cleaned(node.text()).split()) if node is not None else ""


def shallow_markup(markup: str) -> tuple[str, int]:
    """The markup with elements made void that lie deeper than the limit, and its depth if it is past that (else 0).

    The parser's time grows with the depth of elements. No words go. Inline elements are made void all of
    them: the parser repeats unclosed ones in every paragraph.
    """
    bare = markup
    for name in _DROPPED:
        bare = _without(bare, name)
    deepest = _depth(bare)
    if deepest <= DEPTH_LIMIT:
        return markup, 0
    depth = 0

    def flat(tag: re.Match[str]) -> str:
        nonlocal depth
        closing, name = tag[1], tag[2].lower()
        if name in _INLINE:
            return f"<{closing}wbr"
        if name in _VOID or name in _CLOSED_BY_THE_NEXT:
            return tag[0]
        depth = max(depth - 1, 0) if closing else depth + 1
        return tag[0] if depth + bool(closing) <= DEPTH_LIMIT else f"<{closing}wbr"

    return _TAG.sub(flat, bare), deepest


def _depth(markup: str) -> int:
    depth = deepest = 0
    for tag in _TAG.finditer(markup):
        name = tag[2].lower()
        if name in _VOID or name in _CLOSED_BY_THE_NEXT:
            continue
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        deepest = max(deepest, depth)
    return deepest


def _without(markup: str, name: str) -> str:
    """The markup without the elements of a name; one that is not closed stays."""
    lower = markup.lower() if len(markup.lower()) == len(markup) else markup
    parts: list[str] = []
    done, opening, closing = 0, f"<{name}", f"</{name}"
    while (start := lower.find(opening, done)) >= 0 and (end := lower.find(closing, start)) >= 0:
        parts.append(markup[done:start])
        done = lower.find(">", end) + 1 or len(markup)
    return "".join((*parts, markup[done:]))


READER = Reader("html", "HTML", (".html", ".htm", ".xhtml"), _sniff, _read, in_place_below=_SMALL)


class _LineBuilder:
    """Lines of text as they grow. White space is one blank; within a row of a table, a line's end is too."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.verbatim = 0
        self._parts: list[str] = []
        self._length = 0
        self._gap = ""  # what separates the next words from the last: nothing, a blank, a line's end
        self._mark = ""  # what stands before the next words
        self._rows: list[int] = []  # cells begun in each open row
        self._heading: tuple[int, int, int] | None = None

    @property
    def text(self) -> str:
        """All lines."""
        return "".join(self._parts)

    def add(self, text: str) -> None:
        """Words, or within `pre` the text as it stands."""
        if self.verbatim and not self._rows:
            if text:
                self._put(text)
            return
        words = _BLANKS.sub(" ", text)
        if words.startswith(" "):
            self._gap = self._gap or " "
            words = words[1:]
        trailing = words.endswith(" ")
        if words := words.rstrip(" "):
            self._put(words)
        if trailing:
            self._gap = self._gap or " "

    def _put(self, words: str) -> None:
        if self._length and self._gap:
            self._write(self._gap)
        self._write(self._mark + words)
        self._gap = self._mark = ""

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def end_line(self) -> None:
        """The next words begin a line; in a row, they follow after a blank."""
        self._gap = (self._gap or " ") if self._rows else "\n"

    def begin_item(self) -> None:
        """An entry of a list."""
        if not self._rows:
            self._mark = "- "

    def begin_row(self) -> None:
        """A row of a table."""
        self._rows.append(0)

    def begin_cell(self) -> None:
        """A cell of the open row."""
        if self._rows:
            if self._rows[-1] and self._gap != "\n":
                self._gap = self._gap.rstrip(" ") + _CELL
            self._rows[-1] += 1

    def end_row(self) -> None:
        """The end of the open row."""
        if self._rows:
            self._rows.pop()
        self.end_line()

    def begin_heading(self, level: int) -> None:
        """A heading: what is added until its end is its title."""
        self._heading = (level, self._length + (1 if self._length else 0), len(self._parts))

    def end_heading(self) -> None:
        """The end of a heading; one without words is none."""
        if self._heading is None:
            return
        level, start, first = self._heading
        self._heading = None
        title = " ".join("".join(self._parts[first:]).split())
        if title:
            self.sections.append(Section(title, level, start))
