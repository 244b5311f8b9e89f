"""An HTTP endpoint as a system: what to send for a question, and JSON paths to the hits and the answer it replies."""

from __future__ import annotations

import threading
from itertools import islice
from typing import Any

from karat.core.conversation import messages_of, transcript
from karat.core.types import Question
from karat.files import ReplyReader
from karat.systems.environment import Environment
from karat.systems.outside._endpoint import Endpoint, Filling, HttpSettings
from karat.systems.outside._json_path import JsonPath
from karat.systems.outside._reply import BadReply, Hit, SystemReply, read_returned, reply_of

_FIELDS = {"ids": "id", "docs": "doc", "pages": "page", "urls": "url", "texts": "text", "scores": "score"}


class HttpSystem:
    """An endpoint that retrieves, ready to be asked by several threads at once."""

    kind = "HTTP endpoint"

    def __init__(self, settings: HttpSettings, name: str | None = None, environment: Environment | None = None) -> None:
        self._paths = {what: JsonPath.parse(text) for what, text in settings.paths.items()}
        self._endpoint = Endpoint(settings, name, environment)
        self.settings, self.name = settings, self._endpoint.name
        self._reader, self._lock, self._empty = ReplyReader(settings.columns), threading.Lock(), 0

    def close(self) -> None:
        """Let go of connections."""
        self._endpoint.close()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What should be known of all replies together."""
        replies = self._endpoint.replies
        if replies and self._empty == replies:
            paths = ", ".join(path.text for what, path in self._paths.items() if what != "answer")
            return (f"{paths} found nothing in any of {replies} replies. Check paths and endpoint.",)
        return (*self._endpoint.remarks, *self._reader.notes())

    @property
    def places(self) -> tuple[str, ...]:
        """Where in the replies things were read, unless paths say it."""
        return () if self._paths else tuple(self._reader.places())

    def ask(self, question: Question, k: int) -> SystemReply:
        """What the endpoint replies to a question; whatever goes wrong is the error of the reply."""
        asked = self.settings.k or k
        texts = {"question": question.text, "id": question.id, "k": str(asked)}
        texts["history"] = transcript(question.history)
        filling = Filling(texts, {"k": asked, "history": messages_of(question.history)})
        return self._endpoint.ask(filling, lambda value: self._read(value, question, k)).reply()

    def _read(self, value: Any, question: Question, k: int) -> SystemReply:
        if not self._paths:
            return read_returned(value, question, k, self._reader, answers=True)
        hits = self._hits(value, k)
        record: dict[str, Any] = {} if hits is None else {"retrieved": hits}
        if "answer" in self._paths:
            record["answer"] = answer_at(self._paths["answer"], value)
        with self._lock:
            self._empty += hits == []
        return reply_of(record, question, k, self._reader)

    def _hits(self, value: Any, k: int) -> list[Hit] | None:
        columns: dict[str, list[Any]] = {}
        for what, name in _FIELDS.items():
            if what in self._paths:
                values = self._paths[what].find(value)
                if len(values) == 1 and isinstance(values[0], list) and not self._paths[what].is_many:
                    values = values[0]
                columns[name] = values
        if not columns:
            return None
        if len({len(column) for column in columns.values()}) > 1:
            sizes = ", ".join(f"{len(column)} by {name}" for name, column in columns.items())
            raise BadReply(f"the paths find lists of different length ({sizes}), which cannot be paired.")
        return [dict(zip(columns, row, strict=True)) for row in islice(zip(*columns.values(), strict=True), k)]


def answer_at(path: JsonPath, value: Any) -> str:
    """The text that a path finds; null is an empty one."""
    values = path.find(value)
    if len(values) != 1 or not isinstance(values[0], str | None):
        raise BadReply(f"{path.text} is no text.")
    return values[0] or ""
