"""Drawing the charts of a study: pictures for its folder, specifications for a page."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from karat.core.text.words import clean
from karat.io.writing import write_whole
from karat.report.charts._chart import Missing, in_order
from karat.report.charts._style import Theme, theme
from karat.results.study import Study

Counted = Callable[[int, int], None]
SCALE = 2  # pixels of a PNG per unit of the chart
_CLIP = re.compile(r'( id="|="url\(#)(clip|gradient_)(\d+)(?=["\)])')


@dataclass(frozen=True)
class Drawing:
    """The Vega-Lite specification of each chart that could be drawn, and why the others could not.

    They have no colours of their own: a page passes `theme()` as configuration.
    """

    specs: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: dict[str, Missing] = field(default_factory=dict)


def draw(study: Study, progress: Counted = lambda done, total: None) -> Drawing:
    """Every chart of a study, by the name of its files. One that raises is missing, and says that it is broken."""
    drawing = Drawing()
    charts = list(in_order())
    for place, chart in enumerate(charts):
        progress(place, len(charts))
        try:
            figure = chart.make(study)
            spec = None if isinstance(figure, Missing) else figure.to_dict()
        except Exception as error:
            reason = clean(f"could not be drawn ({type(error).__name__}: {error}). This is a bug of the chart.", 400)
            figure, spec = Missing(reason, broken=True), None
        if isinstance(figure, Missing):
            drawing.missing[chart.stem] = figure
        elif spec is not None:
            spec.pop("config", None)
            drawing.specs[chart.stem] = spec
    progress(len(charts), len(charts))
    return drawing


def write_charts(
    study: Study,
    folder: str | os.PathLike[str],
    progress: Counted = lambda done, total: None,
    *,
    drawing: Drawing | None = None,
    look: Theme = "light",
) -> list[Path]:
    """Each chart as PNG and SVG on the background of its theme; `drawing` saves drawing them again."""
    import vl_convert

    config = theme(look, background="#ffffff" if look == "light" else "#17181c")
    written: list[Path] = []
    specs = (drawing or draw(study)).specs
    for place, (name, spec) in enumerate(specs.items()):
        progress(place, len(specs))
        svg = steady(vl_convert.vegalite_to_svg(spec, config=config, allowed_base_urls=[]))
        for path, content in (
            (Path(folder) / f"{name}.png", vl_convert.svg_to_png(svg, scale=SCALE)),
            (Path(folder) / f"{name}.svg", svg),
        ):
            write_whole(path, content)
            written.append(path)
    progress(len(specs), len(specs))
    return written


def steady(svg: str) -> str:
    """The picture with the ids of clips numbered from 0: the renderer counts on from chart to chart."""
    numbers: dict[tuple[str, str], int] = {}

    def renumbered(match: re.Match[str]) -> str:
        number = numbers.setdefault((match[2], match[3]), len(numbers))
        return f"{match[1]}{match[2]}{number}"

    return _CLIP.sub(renumbered, svg)
