"""How many threads the libraries of linear algebra use: one, unless the product is so large that more of them pay.

A team of threads is woken and waited for at every product, and waits by spinning. Of a query's products with the
vectors of an index, or of thousands of small products in a row, that is most of the cost.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

ALONE = 2**18  # multiplications up to which OpenBLAS takes one thread by itself: nothing to limit
PAYS = 2**33  # multiplications from which on more threads save time: about half a second of one


def one_thread() -> AbstractContextManager[Any]:
    """Within it BLAS and OpenMP use one thread (BLAS: in the whole process, OpenMP: for this thread's work)."""
    context: AbstractContextManager[Any] = _thread_pools(len(sys.modules)).limit(limits=1)
    return context


def threads_for(multiplications: int) -> AbstractContextManager[Any]:
    """As many threads as pay for one product of so many multiplications: all that there are, or one."""
    return one_thread() if ALONE < multiplications < PAYS else nullcontext()


def search_threads_for(multiplications: int) -> AbstractContextManager[Any]:
    """The same for a search by FAISS, which wakes all threads for the smallest one, as BLAS does not."""
    return threads_for(max(ALONE + 1, multiplications))


@lru_cache(maxsize=1)
def _thread_pools(modules: int) -> ThreadpoolController:
    """The libraries that hold threads, looked for anew (some milliseconds) when modules were imported since."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
