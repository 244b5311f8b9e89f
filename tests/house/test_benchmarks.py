"""Benchmarks are run by hand, so that nobody would notice what a change of karat broke in them."""

import importlib
import pkgutil

import pytest

import benchmarks

NAMES = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name != "__main__"]


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_imports_what_there_is(name):
    assert importlib.import_module(f"benchmarks.{name}").__doc__
