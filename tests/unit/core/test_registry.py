"""The registry: built-in files, plug-ins of other packages, and what it refuses."""

import sys
import types
from importlib.metadata import EntryPoint
from pathlib import Path
from threading import Thread

import pytest

from karat.core import registry
from karat.core.errors import KaratError, UsageError
from karat.core.measure import MEASURES, find_measure, measure
from karat.core.registry import Registry, key_of

PACKAGE = "another_package"


@measure(name="Kindness", aliases=("niceness",))
def kindness(answer):
    """How kind an answer is."""
    return 1.0


@measure(name="Recall")
def posing_as_recall(answer):
    """A measure that calls itself by a built-in's name."""
    return 1.0


@pytest.fixture
def plugged(monkeypatch):
    """A registry of the measures as it would be with these entry points installed."""
    module = types.ModuleType(PACKAGE)
    module.kindness, module.posing_as_recall, module.number = kindness, posing_as_recall, 7
    monkeypatch.setitem(sys.modules, PACKAGE, module)

    def make(**entries):
        found = [EntryPoint(name, value, "karat.measures") for name, value in entries.items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: found if group == "karat.measures" else [])
        return Registry("measure", MEASURES.packages, MEASURES.group, find_measure)

    return make


def test_names_are_looked_up_without_case_and_dashes():
    assert key_of("ROUGE-L") == key_of("rouge_l") == key_of("RougeL") == "rougel"
    assert MEASURES.get("rouge-l") is MEASURES.get("ROUGE_L")
    assert "NDCG" in MEASURES
    assert "nothing" not in MEASURES


def test_listing_imports_nothing(monkeypatch):
    fresh = Registry("measure", MEASURES.packages, MEASURES.group, find_measure)
    monkeypatch.setattr(fresh, "find", lambda source: pytest.fail("imported"))
    assert {"ndcg", "rougel", "map"} <= set(fresh.keys())
    assert not any(key.startswith("_") for key in fresh.keys())  # noqa: SIM118


def test_a_plugin_is_an_entry_like_any_other(plugged):
    found = plugged(Kindness=f"{PACKAGE}:kindness")
    assert found.get("kindness").name == "Kindness"
    assert found.is_plugin("KINDNESS")
    assert not found.is_plugin("Recall")
    assert "Kindness" in [spec.name for spec in found]


def test_a_plugin_under_a_built_in_name_is_refused(plugged):
    with pytest.raises(KaratError, match=r"another_package:kindness registers the measure 'RECALL', which karat has"):
        plugged(RECALL=f"{PACKAGE}:kindness").keys()


@pytest.mark.parametrize("alias", ["P", "hit_rate", "Success"])
def test_a_plugin_under_another_name_of_a_built_in_is_refused(plugged, alias):
    found = plugged(**{alias: f"{PACKAGE}:kindness"})
    with pytest.raises(KaratError, match="another_package:kindness registers the measure"):
        found.get(alias)


def test_a_plugin_that_calls_itself_by_a_built_in_name_is_refused(plugged):
    found = plugged(harmless=f"{PACKAGE}:posing_as_recall")
    with pytest.raises(KaratError, match="'Recall'"):
        found.get("harmless")


def test_two_plugins_of_one_name_are_refused(plugged, monkeypatch):
    made = plugged()
    twice = [EntryPoint("x", f"{PACKAGE}:kindness", "g"), EntryPoint("X", f"{PACKAGE}:number", "g")]
    monkeypatch.setattr(registry, "entry_points", lambda group: twice)
    with pytest.raises(KaratError, match="two plug-ins register the measure 'X'"):
        made.keys()


def test_a_plugin_that_does_not_import_is_named(plugged):
    found = plugged(Broken="package_that_is_not_there:measure")
    with pytest.raises(KaratError, match=r"the plug-in package_that_is_not_there:measure .*cannot be loaded.*Repair"):
        found.get("broken")


def test_a_plugin_that_ends_the_program_is_named(plugged, tmp_path, monkeypatch):
    (tmp_path / "package_that_exits.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KaratError, match="cannot be loaded: SystemExit"):
        plugged(Leaving="package_that_exits:measure").get("leaving")


def test_a_plugin_that_is_no_measure_is_named(plugged):
    with pytest.raises(KaratError, match=r"another_package:number is no measure: found int\. See docs/extend/README"):
        plugged(number=f"{PACKAGE}:number").get("number")


def test_every_kind_is_on_the_page_that_an_error_names():
    page = (Path(__file__).parents[3] / "docs" / "extend" / "README.md").read_text(encoding="utf-8")
    kinds = ["measure", "matcher", "format", "report", "engine", "store", "embedder", "fusion", "chunker", "check"]
    assert [kind for kind in (*kinds, "reader", "rewriter") if f"| [{kind}](#" not in page] == []


def test_a_file_that_holds_no_entry_is_named(monkeypatch):
    empty = Registry("measure", ("karat.measures.ranking",), "karat.none", lambda source: None)
    with pytest.raises(KaratError, match=r"karat\.measures\.ranking\.recall holds no measure"):
        empty.get("recall")


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(UsageError, match=r"unknown measure 'recal'\. Did you mean recall\?"):
        MEASURES.get("recal")


def test_what_there_is_is_offered_as_it_is_written(plugged):
    with pytest.raises(UsageError, match=r"There are .*rouge_l,.*, well_meant\.$"):
        plugged(well_meant=f"{PACKAGE}:kindness").get("nothing")


def test_a_thread_that_asks_while_another_is_looking_gets_all_names(monkeypatch):
    heard = []
    iter_modules = registry.pkgutil.iter_modules

    def slowly(path):
        first, *rest = iter_modules(path)
        yield first
        if not heard:
            heard.append(None)
            asking = Thread(target=lambda: heard.append(looked.names()))
            asking.start()
            asking.join()
        yield from rest

    monkeypatch.setattr(registry.pkgutil, "iter_modules", slowly)
    looked = Registry("chunker", ("karat.corpus.chunkers",), "karat.none", lambda module: module)
    assert looked.names() == heard[1] == ["page", "section", "sentences", "tokens", "whole"]
