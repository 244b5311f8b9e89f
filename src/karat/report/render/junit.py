"""JUnit: a gate as XML that build servers show, a test for every rule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from karat.report.build.gate import broken_line, figure, held_against, interval, more_broken, sentence

if TYPE_CHECKING:
    from karat.results.gating import Gate, RuleResult

SUITE = "karat gate"
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML 1.0 cannot hold


def render(gate: Gate) -> str:
    """A test for each rule, one for whether the run is complete, and one for the guards.

    A rule that is broken is a failure, and one that cannot be told an error.
    """
    suite = ElementTree.Element("testsuite", name=SUITE)
    properties = ElementTree.SubElement(suite, "properties")
    about = {"run": gate.run, "outcome": gate.outcome, "sentence": sentence(gate)}
    if gate.baseline_run is not None:
        about |= {"baseline": gate.baseline or "", "baseline_run": gate.baseline_run}
    for name, value in about.items():
        ElementTree.SubElement(properties, "property", name=name, value=_legal(value))
    for verdict in gate.verdicts:
        case = _case(suite, verdict.rule.text, verdict.system)
        if verdict.outcome == "pass":
            continue
        kind = "failure" if verdict.outcome == "fail" else "error"
        _problem(case, kind, "rule broken" if kind == "failure" else "cannot tell", verdict.reason, _details(verdict))
    complete = _case(suite, "the run is complete", gate.run)
    if gate.incomplete and gate.allows_incomplete:
        ElementTree.SubElement(complete, "skipped", message=_legal("allowed: " + " ".join(gate.incomplete)))
    elif gate.incomplete:
        _problem(complete, "error", "incomplete", " ".join(gate.incomplete), "\n".join(gate.incomplete))
    guarded = _case(suite, "no guard fired", gate.run)
    if gate.guards:
        lines = [f"{note.guard}: {note.text}" for note in gate.guards]
        _problem(guarded, "failure", "guard", lines[0], "\n".join(lines))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, name: str, system: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=_legal(f"{SUITE}.{system}"), name=_legal(name), time="0")


def _problem(case: ElementTree.Element, tag: str, kind: str, message: str, text: str) -> None:
    ElementTree.SubElement(case, tag, type=kind, message=_legal(message)).text = _legal(text)


def _details(verdict: RuleResult) -> str:
    """Value, bound, interval and n, and the questions that broke."""
    shown = f"{verdict.subject} of {verdict.system}: {figure(verdict.value)} {held_against(verdict)}"
    shown += f", {interval(verdict)}" if interval(verdict) else ""
    lines = [f"{shown}, n {verdict.n:,}", *map(broken_line, verdict.broken), more_broken(verdict)]
    return "\n".join(filter(None, lines))


def _legal(text: str) -> str:
    return _ILLEGAL.sub("?", text)
