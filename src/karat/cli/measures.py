"""karat measures: every measure, or one explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli._options import Debug, Json
from karat.cli._output import print_json, show_document

if TYPE_CHECKING:
    from karat.core.measure import Measure


def command(
    name: Annotated[str | None, typer.Argument(help="One measure to explain, such as nDCG@10.")] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """List every measure with its range, direction, stage and use, or explain one."""
    from karat.core.language import parse
    from karat.core.measure import MEASURES, Measure
    from karat.core.measure_facts import facts

    if name is not None:
        _explain(parse(name, k=10, load_code=True), as_json)
        return
    measures = [Measure(spec, k=10 if spec.cut == "required" else None) for spec in MEASURES]
    if as_json:
        print_json([facts(m) for m in measures])
        return
    from karat.report.document import Document, Table, Text, text_columns

    rows = []
    for measure in sorted(measures, key=lambda m: (m.spec.stage != "retrieval", m.spec.name.lower())):
        about = facts(measure)
        plugin = " (plug-in)" if MEASURES.is_plugin(measure.spec.name) else ""
        spec = measure.spec
        cut = f"@{spec.at}" if spec.at else {"none": "", "optional": "[@k]", "required": "@k"}[spec.cut]
        label = f"{measure.spec.name}{cut}{plugin}"
        rows.append([label, about["range"], about["better"], about["stage"], measure.spec.best_for])
    table = Table("", text_columns("measure", "range", "better", "stage", "best for"), rows)
    how = "`karat measures 'nDCG@10'` explains one. Cuts: @10 by rank, @800t by tokens. Parameters: P(rel=2)@5."
    show_document(Document("Measures", [table, Text(how)]))


def _explain(measure: Measure, as_json: bool) -> None:
    from karat.core.measure_facts import facts

    about = facts(measure)
    if as_json:
        print_json(about)
        return
    typer.echo(f"{about['name']}: {about['what']}")
    if about["notes"]:
        typer.echo(f"\n{about['notes']}")
    typer.echo("")
    for heading in (
        "formula",
        "defined_by",
        "needs",
        "range",
        "better",
        "stage",
        "best_for",
        "prefer",
        "parameters",
        "variants",
        "also_called",
    ):
        value = about[heading]
        if value:
            text = ", ".join(value) if isinstance(value, list) else value
            typer.echo(f"{heading.replace('_', ' '):<12} {text}")
