"""python -m benchmarks NAME [...]: run one benchmark, what follows is its own; without a name, list them."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks


def main() -> None:
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_")]
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        print(f"usage: python -m benchmarks {{{','.join(names)}}} [...]")
        sys.exit(2)
    importlib.import_module(f"benchmarks.{sys.argv[1]}").main()


main()
