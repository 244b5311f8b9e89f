"""Loading what the user wrote: `module:name`, where the module is importable or a file in a folder."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from karat.core.errors import UsageError, did_you_mean

USER = "karat_user_"  # before the names of modules loaded from the user's files


def load_named(text: str, what: str, folder: Path | None = None) -> Any:
    """What `module:name` names; `what` is what messages call it. A file in the folder comes before an installed module.

    `name` may be dotted (`searcher.search`). Importing a module runs its code: only name files you would run yourself.
    """
    module_name, _, name = text.partition(":")
    module_name = module_name.removesuffix(".py")
    path = Path(module_name.replace(".", "/") + ".py") if "/" not in module_name else Path(module_name + ".py")
    path = path if folder is None else folder / path
    try:
        if path.is_file():
            found: Any = _from_file(path, folder)
        else:
            found = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        there = "this folder" if folder is None else str(folder)
        raise UsageError(
            f"cannot load the {what} {text!r}: {error}. Name a file in {there} or an installed module."
        ) from error
    except (Exception, SystemExit) as error:
        raise UsageError(f"cannot load the {what} {text!r}: {type(error).__name__}: {error}.") from error
    for part in name.split("."):
        holder, found = found, getattr(found, part, None)
        if found is None:
            offered = [n for n, v in getattr(holder, "__dict__", {}).items() if callable(v) and not n.startswith("_")]
            raise UsageError(f"{module_name} has no function {name!r}.{did_you_mean(part, offered)}")
    if not callable(found):
        raise UsageError(f"{module_name} has no function {name!r}: that is {type(found).__name__}.")
    return found


def _from_file(path: Path, folder: Path | None) -> ModuleType:
    loaded_as = f"{USER}{path.stem}"
    file = importlib.util.spec_from_file_location(loaded_as, path)
    assert file is not None
    assert file.loader is not None
    module = importlib.util.module_from_spec(file)
    sys.modules[loaded_as] = module
    with _neighbours(folder):
        file.loader.exec_module(module)
    return module


@contextmanager
def _neighbours(folder: Path | None) -> Iterator[None]:
    """While the block runs, files of the folder can import each other."""
    if folder is None:
        yield
        return
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        with suppress(ValueError):
            sys.path.remove(str(folder))
