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


def package(module: str, what: str, extra: str) -> Any:
    """A package that not everybody needs, imported now; without it `what` cannot be done, and `extra` brings it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise UsageError(f"{what} needs {name}, which is not installed. Run: pip install 'karat[{extra}]'") from None


def load_named(text: str, what: str, folder: Path | None = None, *, uncallable: bool = False) -> Any:
    """What `module:name` names; `what` is what messages call it. A file in the folder comes before an installed module.

    It is something that can be called, unless `uncallable` allows any object.

    `name` may be dotted (`searcher.search`). Importing a module runs its code: only name files you would run yourself.
    """
    module_name, path = _place(text, folder)
    name = text.partition(":")[2]
    try:
        if path.is_file():
            loaded: Any = _from_file(path, folder)
        else:
            loaded = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        there = "this folder" if folder is None else str(folder)
        raise UsageError(
            f"cannot load the {what} {text!r}: {error}. Name a file in {there} or an installed module."
        ) from error
    except (Exception, SystemExit) as error:
        raise UsageError(f"cannot load the {what} {text!r}: {type(error).__name__}: {error}.") from error
    for part in name.split("."):
        holder, loaded = loaded, getattr(loaded, part, None)
        if loaded is None:
            offered = [n for n, v in getattr(holder, "__dict__", {}).items() if callable(v) and not n.startswith("_")]
            raise UsageError(f"{module_name} has no function {name!r}.{did_you_mean(part, offered)}")
    if not (callable(loaded) or uncallable):
        raise UsageError(f"{module_name} has no function {name!r}: that is {type(loaded).__name__}.")
    return loaded


def file_of(text: str, folder: Path | None = None) -> Path | None:
    """The file that `load_named` would load, without running it, but for packages it stands in; None if there is none.

    What that file imports is not told.
    """
    module_name, path = _place(text, folder)
    if path.is_file():
        return path
    with suppress(ImportError, ValueError, AttributeError):
        spec = importlib.util.find_spec(module_name)
        if spec is not None and spec.has_location and spec.origin is not None:
            return Path(spec.origin)
    return None


def _place(text: str, folder: Path | None) -> tuple[str, Path]:
    """The name of a module, and the file it would be in the folder."""
    module_name = text.partition(":")[0].removesuffix(".py")
    path = Path(module_name.replace(".", "/") + ".py") if "/" not in module_name else Path(module_name + ".py")
    return module_name, path if folder is None else folder / path


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
