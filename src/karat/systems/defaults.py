"""Defaults: what an index is built with and searched by where nobody says, by the language of its documents.

Vectors help where their model knows the language, and cost where it does not. The weights were tuned on questions of
their own, wordllama's in English, the multilingual model's in English and Russian.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karat.core.models import Models
from karat.core.text import NAMES, Language
from karat.models import EmbedderSettings
from karat.models.embedders import multilingual
from karat.systems.settings import HYBRID, OF_HYBRID, SystemSettings
from karat.systems.system import System

if TYPE_CHECKING:
    from karat.systems.index import Index

_USUAL, _OTHER = EmbedderSettings(), EmbedderSettings("multilingual")
_WEIGHT = 0.5  # of vectors by any model but wordllama, which has that of `SystemSettings`


def default_embedder(language: Language | None) -> EmbedderSettings:
    """wordllama for English; for other languages the multilingual model, where it is installed and knows them."""
    own = language is not None and _USUAL.knows(language)
    return _USUAL if own or not _OTHER.knows(language) or not multilingual.is_installed() else _OTHER


def system_for(index: Index | None, models: Models | None = None, **given: Any) -> System:
    """A system over an index, of the settings that are given (not None); its default where no engine is among them.

    What only a hybrid has, such as alpha, names the hybrid. Its weight goes by the embedder of the index.
    """
    named = {name: value for name, value in given.items() if value is not None}
    notes: tuple[str, ...] = ()
    if index is not None and "engine" not in named and not any(name in named for name in OF_HYBRID):
        named["engine"] = _default_engine(index)
        notes = default_notes(index)
    if index is not None:
        named.setdefault("alpha", _default_alpha(index))
    return System(SystemSettings(**named), index, models or Models(), notes)


def default_line(index: Index) -> str:
    """The default system of an index and why it is that, in a line."""
    engine, embedder, language = _default_engine(index), index.embedder, NAMES.get(index.language or "")
    name = SystemSettings(engine, alpha=_default_alpha(index)).name
    missing = [leg for leg in SystemSettings.legs if leg not in index.engines]
    if missing or embedder is None:
        return f"{name}: the index has no engine {' and no '.join(missing)}"
    if engine == HYBRID:
        return f"{name}: documents in {language or 'a language that is not recognised'}, vectors by {embedder.label}"
    other = "--embedder multilingual (pip install 'karat[multilingual]')"
    remedy = other if _OTHER.knows(index.language) else "an --embedder that does"
    return f"{name} alone: {embedder.label} does not know {language}. A hybrid needs {remedy}"


def default_notes(index: Index) -> tuple[str, ...]:
    """The default of an index as a sentence, where its language or its engines make it another than usual."""
    usual = _USUAL.knows(index.language) and _default_engine(index) == HYBRID
    return () if usual else (f"Default of this index: {default_line(index)}.",)


def _default_alpha(index: Index) -> float:
    embedder = index.embedder
    return SystemSettings.alpha if embedder is None or embedder.name == _USUAL.name else _WEIGHT


def _default_engine(index: Index) -> str:
    legs = SystemSettings.legs
    if not set(legs) <= set(index.engines):
        return index.engines[0]
    embedder = index.embedder
    return HYBRID if embedder is None or embedder.knows(index.language) else legs[-1]
