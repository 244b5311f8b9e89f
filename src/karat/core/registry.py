"""Registry: what a room holds, by name, without importing it until asked.

The files of a package are its entries: `measures/ranking/ndcg.py` is `nDCG`. Other packages add entries by entry points
(`karat.measures`, `karat.formats`, ...); one that takes a built-in's name is refused.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from karat.core.errors import KaratError, UsageError, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


@cache
def _registered() -> Any:
    """What all installed packages register: read once, when somebody first asks, as there may be hundreds of them."""
    from importlib import metadata

    return metadata.entry_points()


def entry_points(group: str) -> Iterable[EntryPoint]:
    """What other packages register under a group."""
    plugins: Iterable[EntryPoint] = _registered().select(group=group)
    return plugins


def instance_of(kind: type[T], attribute: str) -> Callable[[Any], T | None]:
    """Finds the object of a kind that a module defines under a name, or takes the object itself."""

    def find(source: Any) -> T | None:
        entry = source if isinstance(source, kind) else getattr(source, attribute, None)
        return entry if isinstance(entry, kind) else None

    return find


def key_of(name: str) -> str:
    """The spelling under which a name is looked up: lower case, without - and _.

    >>> key_of("ROUGE-L"), key_of("rouge_l")
    ('rougel', 'rougel')
    """
    return name.lower().replace("-", "").replace("_", "")


class Registry(Generic[T]):
    """Entries of some packages' files plus those of an entry-point group.

    `find` takes a module, or the object an entry point names, and returns the entry in it, or None; `kind` is
    what messages call an entry.
    """

    def __init__(self, kind: str, packages: tuple[str, ...], group: str, find: Callable[[Any], T | None]) -> None:
        self.kind, self.packages, self.group, self.find = kind, packages, group, find
        self._modules: dict[str, str] | None = None
        self._plugins: dict[str, EntryPoint] | None = None
        self._loaded: dict[str, T] = {}

    def _built_in(self) -> dict[str, str]:
        if self._modules is None:
            self._modules = {  # whole at once: another thread may be asking
                key_of(info.name): f"{package}.{info.name}"
                for package in self.packages
                for info in pkgutil.iter_modules(importlib.import_module(package).__path__)
                if not info.name.startswith("_") and not info.ispkg
            }
        return self._modules

    def _added(self) -> dict[str, EntryPoint]:
        if self._plugins is None:
            plugins: dict[str, EntryPoint] = {}
            for entry in entry_points(group=self.group):
                key = key_of(entry.name)
                if key in self._built_in():
                    raise self._taken(entry, entry.name)
                if key in plugins and plugins[key].value != entry.value:
                    raise KaratError(
                        f"two plug-ins register the {self.kind} {entry.name!r}: {plugins[key].value} and "
                        f"{entry.value}. Rename or uninstall one of them."
                    )
                plugins[key] = entry
            self._plugins = plugins
        return self._plugins

    def keys(self) -> list[str]:
        """Lookup keys of all entries, built-in first, nothing imported."""
        return [*sorted(self._built_in()), *sorted(self._added())]

    def names(self) -> list[str]:
        """Names of all entries as their files and entry points are called, built-in first, nothing imported."""
        built_in = (self._built_in()[key].rpartition(".")[2] for key in sorted(self._built_in()))
        return [*built_in, *(self._added()[key].name for key in sorted(self._added()))]

    def __contains__(self, name: str) -> bool:
        return key_of(name) in self._built_in() or key_of(name) in self._added()

    def get(self, name: str) -> T:
        """The entry of this name; an unknown name gets a did-you-mean."""
        key = key_of(name)
        if key in self._loaded:
            return self._loaded[key]
        if key in self._built_in():
            module = self._built_in()[key]
            entry = self.find(importlib.import_module(module))
            if entry is None:
                raise KaratError(f"{module} holds no {self.kind}.")
        elif key in self._added():
            entry = self._load(self._added()[key])
        else:
            offered = f"There are {', '.join(self.names())}."
            raise UsageError(f"unknown {self.kind} {name!r}.{did_you_mean(name, self.names())} {offered}")
        self._loaded[key] = entry
        return entry

    def _load(self, plugin: EntryPoint) -> T:
        try:
            loaded = plugin.load()
        except (Exception, SystemExit) as error:
            raise KaratError(
                f"the plug-in {plugin.value} ({self.kind} {plugin.name!r}) cannot be loaded: "
                f"{type(error).__name__}: {error}. Repair or uninstall its package."
            ) from error
        entry = self.find(loaded)
        if entry is None:
            raise KaratError(
                f"the plug-in {plugin.value} is no {self.kind}: found {type(loaded).__name__}. "
                "See docs/extend/README.md."
            )
        built_in = {key_of(name) for key in self._built_in() for name in _names(self.get(key))}
        for name in (plugin.name, *_names(entry)):
            if key_of(name) in built_in:
                raise self._taken(plugin, name)
        return entry

    def _taken(self, plugin: EntryPoint, name: str) -> KaratError:
        return KaratError(
            f"the plug-in {plugin.value} registers the {self.kind} {name!r}, which karat has built in. "
            "Rename it in that package, or uninstall the package."
        )

    def is_plugin(self, name: str) -> bool:
        """Whether another package brings this entry."""
        return key_of(name) in self._added()

    def __iter__(self) -> Iterator[T]:
        return (self.get(key) for key in self.keys())


def _names(entry: Any) -> tuple[str, ...]:
    """Every name an entry goes by."""
    return tuple(filter(None, (getattr(entry, "name", None), *getattr(entry, "aliases", ()))))
