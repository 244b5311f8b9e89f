import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from karat.io.threads import ALONE, PAYS, one_thread, threads_for


def threads():
    return [library["num_threads"] for library in threadpool_info()]


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(limits=2):
        yield


def test_one_thread_within_and_as_before_after():
    np.ones((2, 2)) @ np.ones((2, 2))
    before = threads()
    with one_thread():
        assert set(threads()) == {1}
    assert threads() == before
    assert 2 in before


def test_as_before_after_an_error():
    before = threads()
    with pytest.raises(ValueError, match="inside"), one_thread():
        raise ValueError("inside")
    assert threads() == before


@pytest.mark.parametrize(("multiplications", "most"), [(ALONE, 2), (ALONE + 1, 1), (PAYS - 1, 1), (PAYS, 2)])
def test_threads_by_the_size_of_the_product(multiplications, most):
    with threads_for(multiplications):
        assert max(threads()) == most


@pytest.mark.slow
def test_libraries_loaded_since_are_limited_too():
    code = """
import numpy
from karat.io.threads import one_thread
with one_thread(): pass
import faiss
faiss.omp_set_num_threads(2)
with one_thread(): print(faiss.omp_get_max_threads())
print(faiss.omp_get_max_threads())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "2"]
