"""Page: the sections in their order, with style and scripts inside, and a policy that lets nothing in or out."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from karat.core.text.wellformed import well_formed
from karat.report.html import answers, failures, kinds, methods, pairs, provenance, questions, scores, summary, warnings
from karat.report.html import charts as drawn
from karat.report.html._markup import text
from karat.report.html._shown import Shown

if TYPE_CHECKING:
    from karat.results.study import Study

BUDGET = 4_700_000  # bytes of the whole page, as far as hits and texts can be shortened
SCRIPTS = ("dom.js", "theme.js", "tables.js", "charts.js", "explorer.js", "question.js", "answers.js", "start.js")
MENU = {
    "summary": "Summary",
    "scores": "Scores",
    "pairs": "Pairs",
    "failures": "Failures",
    "answers": "Answers",
    "charts": "Charts",
    "questions": "Questions",
    "kinds": "Kinds",
    "provenance": "Provenance",
    "methods": "Methods",
}


def render(study: Study, charts: Mapping[str, dict[str, Any]]) -> str:
    """The study as one page; `charts` are Vega-Lite specifications by name, none of them needed."""
    shown = Shown(study)
    tables = (scores.make(shown), pairs.make(shown), failures.make(shown), answers.make(shown))
    before = [summary.make(shown), warnings.make(shown), *tables, drawn.make(charts)]
    after = [kinds.make(shown), provenance.make(shown), methods.make(shown)]
    scripts = [*([drawn.runtime()] if charts else []), _script()]
    spent = sum(len(well_formed(part).encode()) for part in (*before, *after, *scripts, _style()))
    body = well_formed("".join([*before, questions.make(shown, BUDGET - spent), *after]))
    return document(study.name, body, MENU, scripts[:-1])


def document(name: str, body: str, menu: Mapping[str, str], scripts: list[str]) -> str:
    """A whole page: these sections under a menu, these scripts and the page's own, and a policy against all others."""
    scripts = [*scripts, _script()]
    inlined = "".join(f"<script>{script}</script>" for script in scripts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{text(name)} · karat</title><style>{_style()}</style></head><body>"
        f'{_top(name, body, menu)}<main id="main">{body}</main>{inlined}</body></html>\n'
    )


def _policy(scripts: list[str]) -> str:
    """Only these scripts run, and nothing is fetched from anywhere.

    Styles may be inline: charts and bars set them. Nothing is evaluated: charts are interpreted, not compiled.
    """
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; connect-src 'none'; "
        "base-uri 'none'; form-action 'none'"
    )


def _top(name: str, body: str, menu: Mapping[str, str]) -> str:
    links = "".join(
        f'<li><a href="#{id_}">{title}</a></li>' for id_, title in menu.items() if f'<section id="{id_}"' in body
    )
    return (
        '<a class="skip" href="#main">Skip to the report</a>'
        f'<header><p class="brand">karat</p><h1>{text(name)}</h1>'
        '<button type="button" id="theme" hidden>Dark</button>'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>'
    )


def _style() -> str:
    dark = _asset("dark.css")
    return (
        f"{_asset('page.css')}{_asset('explorer.css')}{_asset('answers.css')}"
        f'@media screen and (prefers-color-scheme:dark){{:root:not([data-theme="light"]){{{dark}}}}}'
        f'@media screen{{:root[data-theme="dark"]{{{dark}}}}}{_asset("print.css")}'
    )


def _script() -> str:
    """The page's own scripts in one scope."""
    return '(() => {\n"use strict";\n' + "\n".join(_asset(name) for name in SCRIPTS) + "})();\n"


def _asset(name: str) -> str:
    return (files("karat.report.html") / "assets" / name).read_text(encoding="utf-8")
