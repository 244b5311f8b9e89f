"""What a plug-in declares: the classes that parts are made of, with every field, from their source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from importlib import import_module

from docs.generator.markdown import code, page, table

_CLASSES = (  # where it is, its name, and the entry-point group
    ("karat.core.measure", "MeasureSpec", "karat.measures"),
    ("karat.match._matcher", "Matcher", "karat.matchers"),
    ("karat.files._format", "Format", "karat.formats"),
    ("karat.corpus._reader", "Reader", "karat.readers"),
    ("karat.corpus._chunk", "Chunker", "karat.cuttings"),
    ("karat.retrieve._engine", "Engine", "karat.engines"),
    ("karat.retrieve._engine", "Store", "karat.stores"),
    ("karat.models._embedder", "Embedder", "karat.embedders"),
    ("karat.fuse._fusion", "Fusion", "karat.fusions"),
    ("karat.retrieve.rewrite", "Rewriter", "karat.rewriters"),
    ("karat.testset._kind", "Kind", "karat.kinds"),
    ("karat.testset.check._check", "Check", "karat.checks"),
    ("karat.results.testset_check", "Finding", "karat.checks"),
    ("karat.testset.check._check", "Filter", "karat.filters"),
    ("karat.report.charts._chart", "Chart", "karat.charts"),
    ("karat.report._output", "Output", "karat.reports"),
    ("karat.report._tracker", "Tracker", "karat.trackers"),
    ("karat.report._tracker", "TrackedRun", "karat.trackers"),
    ("karat.report._tracker", "TrackedSystem", "karat.trackers"),
)


def contracts() -> str:
    """Every class, with its fields or, of a protocol, its methods."""
    sections = []
    for module, name, group in _CLASSES:
        cls = getattr(import_module(module), name)
        public = ".".join(part for part in module.split(".") if not part.startswith("_"))
        sections += [f"## {name}", f"`{public}.{name}`, entry-point group `{group}`.", inspect.getdoc(cls) or ""]
        sections.append(table(("field", "type and default", "meaning"), attributes(cls)))
    about = (
        "The classes behind [Extend karat](../extend/README.md), which has an example of each. Meanings that the "
        "description above a table gives are not repeated in it."
    )
    return page("Contracts of plug-ins", about, sections)


def attributes(cls: type) -> Iterator[tuple[str, str, str]]:
    """Fields with the comment or docstring behind them; methods of a protocol with their docstrings."""
    source = textwrap.dedent(inspect.getsource(cls))
    lines = source.splitlines()
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef)
    for place, node in enumerate(definition.body):
        after = definition.body[place + 1] if place + 1 < len(definition.body) else None
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not node.target.id.startswith("_"):
            default = f" = {ast.unparse(node.value)}" if node.value else ""
            meaning = lines[(node.end_lineno or 1) - 1].partition("  # ")[2]
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                meaning = str(after.value.value)
            yield code(node.target.id), code(f"{ast.unparse(node.annotation)}{default}"), meaning
        elif isinstance(node, ast.FunctionDef) and getattr(cls, "_is_protocol", False):
            returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            yield code(node.name), code(f"({ast.unparse(node.args)}){returned}"), ast.get_docstring(node) or ""
