"""The scripts of the gallery, run, and what their reports say of each question. Also a command, for environments that
have a framework and no pytest: `python gallery.py SCRIPT ...` prints it as JSON."""

import json
import runpy
import shutil
import sys
from contextlib import redirect_stdout
from importlib import metadata
from pathlib import Path

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
MEASURES = ("Recall@5", "Precision@5", "F1@5", "Hit@5", "MRR", "MRR@5", "nDCG@5", "MAP")


def copied(folder):
    """A copy of the gallery, since scripts write beside themselves."""
    return shutil.copytree(GALLERY, folder / "gallery", ignore=shutil.ignore_patterns("__pycache__", "island.index"))


def ran(script):
    """The values of the reports that a script leaves: `report`, or `reports` by name."""
    names = runpy.run_path(str(script))
    reports = names.get("reports") or {"report": names["report"]}
    for reason, systems in names.get("broken", {}).items():
        refuse_silence(reason, systems)
    return {name: values(report) for name, report in reports.items()}


def refuse_silence(reason, systems):
    """Every question of a broken system has failed, for that reason."""
    import karat

    report = karat.evaluate("questions.jsonl", {f"broken {n}": system for n, system in enumerate(systems)})
    rows = report.per_query.to_dicts()
    assert len(rows) == 13 * len(systems)
    wrong = [(row["system"], row["status"], row["reason"]) for row in rows if reason not in (row["reason"] or "")]
    assert not wrong, (reason, wrong)
    assert {row["status"] for row in rows} == {"failed"}


def values(report):
    """{system: {question: {measure: value}}}."""
    rows = report.per_query.to_dicts()
    systems = {row["system"]: {} for row in rows}
    for row in rows:
        systems[row["system"]][row["question_id"]] = {measure: row[measure] for measure in MEASURES}
    return systems


if __name__ == "__main__":
    sys.path[:0] = {str(Path.cwd()), *(str(Path(script).parent) for script in sys.argv[1:])}  # what they share
    with redirect_stdout(sys.stderr):
        found = {Path(script).stem: ran(script) for script in sys.argv[1:]}
    installed = {one.name.lower(): one.version for one in metadata.distributions()}
    print(json.dumps({"values": found, "versions": installed}))
