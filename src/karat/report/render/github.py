"""GitHub: a gate as a comment, as annotations, and as output that the workflow takes no commands from."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from karat.core.text.words import clean
from karat.report.build.gate import broken_line, document, more_broken
from karat.report.render import markdown

if TYPE_CHECKING:
    from karat.results.gating import Gate

MARKER = "<!-- karat gate -->"  # by which a comment is found again and replaced
_MENTION = re.compile(r"(?<![0-9A-Za-z])@(?=[0-9A-Za-z])")  # what GitHub takes for a person: @95% too, not Recall@5


def comment(gate: Gate) -> str:
    """The gate in Markdown by which nobody is mentioned."""
    return f"{MARKER}\n{_MENTION.sub('@<!-- -->', markdown.render(document(gate)))}"


def unheard(text: str) -> str:
    """Output that GitHub takes no commands from: a question may hold some, and wrapping may begin a line with one.

    What ends it is made of the text itself, which therefore cannot hold it.
    """
    end = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"::stop-commands::{end}\n{text}::{end}::\n"


def workflow_commands(gate: Gate) -> list[str]:
    """Workflow commands by which GitHub shows what is wrong."""
    commands = []
    for v in gate.verdicts:
        if v.outcome != "pass":
            lines = [f"{clean(v.system)}: {clean(v.reason)}.", *map(broken_line, v.broken), more_broken(v)]
            level = "error" if v.outcome == "fail" else "warning"
            commands.append(_command(level, f"karat gate: {v.rule.text}", "\n".join(filter(None, lines))))
    commands += [_command("error", f"karat gate: {note.guard}", clean(note.text)) for note in gate.guards]
    level = "warning" if gate.allows_incomplete else "error"
    return commands + [_command(level, "karat gate: incomplete", clean(text)) for text in gate.incomplete]


def _command(level: str, title: str, message: str) -> str:
    """`::error title=...::message`, with what would end it escaped as GitHub wants.

    >>> _command("error", "a: b, c", "50%\\nof")
    '::error title=a%3A b%2C c::50%25%0Aof'
    """
    named = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={named}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
