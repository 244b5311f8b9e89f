"""Text from files made safe for where it is written: names, ids and reasons may hold anything."""

from __future__ import annotations

import re

from karat.core.text.words import clean as clean

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~!$&])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "±": r"$\pm$",
}


def markdown(text: str) -> str:
    """Plain text that Markdown shows as it stands, in a table cell too."""
    return _MARKDOWN.sub(r"\\\1", clean(text))


def latex(text: str) -> str:
    """Plain text that LaTeX prints as it stands."""
    return "".join(_LATEX.get(c, c) for c in clean(text))
