"""`estext:URL#index`: texts in Elasticsearch or OpenSearch, searched by a match query, whose scores are their BM25.

The key is read from ELASTIC_API_KEY, or from the variable that `#index?key_env=NAME` names; with `&user=NAME` it is
the password of that user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from karat.core.docs import Chunk
from karat.core.errors import UsageError
from karat.retrieve._search_api import MOST_HITS, OPTIONS, SearchServer
from karat.retrieve._store_target import StoreTarget
from karat.retrieve._stored import TextStore

if TYPE_CHECKING:
    from karat.models import Embedder


class EstextStore(TextStore):
    """A field of texts."""

    name: ClassVar[str] = "estext"

    def __init__(self, target: StoreTarget, server: SearchServer) -> None:
        self._server = server
        able = [name for name, about in server.fields.items() if about.get("type") in ("text", "match_only_text")]
        field = target.column("text", able)
        if field is None and len(able) != 1:
            shown = f"fields of texts: {', '.join(able)}" if able else "no field of texts"
            raise UsageError(f"{target.shown} has {shown}. Name the one to search: #{target.name}?text=FIELD.")
        self._field = field or able[0]
        super().__init__(target.shown, server.count())
        vectors = [name for name, about in server.fields.items() if "vector" in str(about.get("type"))]
        self._source = {"excludes": vectors}
        self.notes += (f"scores are those of a match query on {self._field}: any word counts.",)
        sample = server.hits({"size": 16, "query": {"match_all": {}}, "_source": self._source})
        self.notes += target.notes(hit["_source"] for hit in sample)

    @classmethod
    def open(cls, target: str, embedder: Embedder | None) -> Self:
        parsed = StoreTarget.parse(cls.name, target, OPTIONS)
        return cls(parsed, SearchServer(parsed, "ELASTIC_API_KEY"))

    @classmethod
    def asks(cls, target: str) -> str | None:
        """The host of the server."""
        return StoreTarget.parse(cls.name, target, OPTIONS).host

    def matching(self, query: str, depth: int) -> tuple[list[Chunk], list[float]]:
        payload = {"size": min(depth, MOST_HITS), "_source": self._source, "query": {"match": {self._field: query}}}
        hits = self._server.hits(payload)
        return [self._server.chunk(hit) for hit in hits], [hit["_score"] for hit in hits]


store = EstextStore
