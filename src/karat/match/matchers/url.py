"""url: the same address, whatever the scheme, host case, trailing slash, fragment or percent-encoding."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import quote, urlsplit

from karat.core.run import Run
from karat.core.types import Gold
from karat.match._matcher import (
    Context,
    Keys,
    Matcher,
    best_share,
    column,
    column_or_none,
    ids_of,
    plain_id,
    share_matching,
    shown,
)

_RESERVED = "%/:?#[]@!$&'()*+,;=~"
_PLAIN = frozenset(string.ascii_letters + string.digits + "-._~")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}(:\d+)?(/|$)", re.IGNORECASE)


@lru_cache(maxsize=65536)
def address_of(url: str) -> str | None:
    """A url in the one form that is compared, or None for what is no web address.

    >>> address_of("HTTP://En.Wikipedia.org/wiki/Z%C3%BCrich/#History") == address_of("https://en.wikipedia.org/wiki/Zürich")
    True
    """
    text = url.strip()
    if not is_url(text) and not _HOST.match(text):
        return None
    try:
        parts = urlsplit(text if "//" in text else f"//{text}")
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return None
    named_port = f":{port}" if port not in (None, 80, 443) else ""
    path = _encoded(parts.path).rstrip("/")
    return f"{host}{named_port}{path}{'?' + _encoded(parts.query) if parts.query else ''}"


def _encoded(text: str) -> str:
    """One percent-encoding for equal texts: everything but ASCII encoded, and no letter, digit or -._~ encoded."""
    encoded = quote(text, safe=_RESERVED)
    return _ESCAPE.sub(lambda found: c if (c := chr(int(found[1], 16))) in _PLAIN else found[0].upper(), encoded)


def is_url(text: str) -> bool:
    """Whether a text is a web address: it has a scheme of the web, or begins with www."""
    return text.strip().lower().startswith(("http://", "https://", "www.", "//"))


def _gold_key(gold: Gold) -> str | None:
    name = gold.url if gold.url is not None else gold.doc if gold.doc is not None else plain_id(gold)
    return address_of(name) if name else None


def _hit_keys(run: Run) -> Sequence[Keys]:
    urls = zip(column_or_none(run, "url"), run.doc_list, strict=True)
    return [address_of(str(url)) if url is not None else address_of(id_) for url, id_ in urls]


def _fits(context: Context) -> str | None:
    named = [g.url for g in context.golds if g.url is not None] or ids_of(context.golds)
    is_common = share_matching(is_url, named) > 0.5 and best_share(is_url, context.runs, "url") > 0.5
    return "gold and hits are web addresses" if is_common else None


def _lacks(run: Run) -> str | None:
    return None if not len(run) or column(run, "url") is not None or share_matching(address_of, run.docs) else "url"


matcher = Matcher(
    "url",
    unit="page of the web",
    summary="the same address, whatever the scheme, host case, trailing slash, fragment or percent-encoding",
    strictness=40,
    prepare=lambda context: (_gold_key, _hit_keys),
    fits=_fits,
    lacks=_lacks,
    why=lambda gold, key, view: (
        "unknown address",
        f"no chunk comes from {shown(gold.url or gold.doc or gold.label)}",
    ),
)
