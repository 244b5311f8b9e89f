"""A command: its help, with options under headings and each value by a word, and how its values are read."""

from __future__ import annotations

from functools import partial
from typing import Any

from typer.core import TyperCommand

ARGUMENTS, OPTIONS = "Arguments", "Options"


class GroupedCommand(TyperCommand):
    """A command whose help lists options under the headings they were declared with."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        super().__init__(name, **settings)
        for param in self.params:
            if param.metavar is None and not getattr(param, "is_flag", False):
                param.metavar = max(param.opts, key=len).lstrip("-").rpartition("-")[2].upper()  # --runs-dir DIR

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, `--help` among them."""
        params = super().get_params(ctx)
        for param in params:
            param.process_value = partial(_process_value, param)  # type: ignore[method-assign]
        return params

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What the first line names after the command: required arguments as they are, others in brackets."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the command's own options, then those it shares with others."""
        sections: dict[str, list[tuple[str, str]]] = {ARGUMENTS: [], OPTIONS: []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and param.param_type_name == "argument":
                sections[ARGUMENTS].append((record[0].partition(" <")[0], record[1]))
            elif record is not None:
                sections.setdefault(getattr(param, "rich_help_panel", None) or OPTIONS, []).append(record)
        for heading, lines in sections.items():
            if lines:
                with formatter.section(heading):
                    formatter.write_dl(lines)


def _process_value(param: Any, ctx: Any, value: Any) -> Any:
    """The value of an option; typer converts it by pydantic, which takes long to import, only where that is needed."""
    several = param.multiple or param.nargs == -1
    annotation = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    if value is None and not param.required:
        value = () if several else None
    elif annotation == list[str] and several and value and all(map(_is_text, value)):
        value = list(value)
    elif not (_is_text(value) if annotation is str else type(value) in (annotation, bool)):
        return type(param).process_value(param, ctx, value)
    return value if param.callback is None else param.callback(ctx, param, value)


def _is_text(value: Any) -> bool:
    """Whether a word of the command line is text: bytes that are no UTF-8 are halves of pairs in it."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)
