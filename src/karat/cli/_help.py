"""The help of a command: its options under headings, each value by a word."""

from __future__ import annotations

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
