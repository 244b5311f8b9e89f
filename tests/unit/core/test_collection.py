"""What is made while garbage is not looked for counts as old afterwards, and is still collected."""

import gc
import weakref

import pytest

from karat.core.collection import MANY, without_collection


class Cycle:
    def __init__(self):
        self.itself = self


@pytest.fixture
def settled():
    """Nothing frozen, as in a program of its own; the suite freezes what it has imported."""
    gc.unfreeze()
    gc.collect()
    yield
    gc.enable()
    gc.freeze()


@without_collection
def made():
    assert not gc.isenabled()
    return [Cycle() for _ in range(MANY)]


@pytest.mark.usefixtures("settled")
def test_what_was_made_is_old_and_collected_when_all_is_looked_through():
    several = made()
    assert gc.isenabled()
    assert any(other is several for other in gc.get_objects(generation=2))
    left = weakref.ref(several[0])
    del several
    gc.collect()
    assert left() is None


@pytest.mark.usefixtures("settled")
def test_what_the_program_keeps_from_collection_stays_so():
    gc.freeze()
    kept = gc.get_freeze_count()
    made()
    assert gc.get_freeze_count() >= kept - 100  # some die meanwhile, none are given back


@pytest.mark.usefixtures("settled")
def test_collection_that_was_off_stays_off():
    gc.disable()
    made()
    assert not gc.isenabled()


def test_of_few_objects_nothing_is_asked(monkeypatch):
    """How many objects a program keeps is told after a walk through all of them."""
    monkeypatch.setattr("gc.get_freeze_count", lambda: pytest.fail("a walk for a small file"))
    gc.collect(0)
    assert without_collection(Cycle)().itself
    assert gc.isenabled()
