"""The batch endpoints of an OpenAI-compatible server: files sent and fetched, batches created, found again, looked at.

Creating a batch commits money. An attempt whose outcome is not known is therefore not repeated before the batch was
looked for among those that the server lists, by the token in its metadata or by its file.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from itertools import count
from typing import Any, BinaryIO
from urllib.parse import quote

from karat.core.errors import KaratError
from karat.core.text.words import plural
from karat.models.chat._batch_files import ENDPOINT
from karat.models.chat.batches import BatchRecord
from karat.models.endpoint import ModelEndpoint, RequestFailure, after, backoff
from karat.models.file_transfer import FileDownload, FileUpload

_WINDOW = "24h"
_LOOKS = 6
"""How often a batch whose creation was not confirmed is looked for: it may take a moment to be listed."""
_PAGES, _PAGE, _DAY_SECONDS = 100, 100, 86_400
_NONE_THERE = (404, 405, 501)
_LATE = 408
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}")
_MARK = "karat"
"""The name in a batch's metadata that its token stands under."""

Values = dict[str, Any]


class BatchServer(ModelEndpoint):
    """A server that takes batches."""

    def _stops(self, status: int, reason: str, content: bytes) -> str:
        return "" if status in _NONE_THERE else super()._stops(status, reason, content)

    async def values(self, method: str, path: str, payload: Any = None, **files: Any) -> Values | RequestFailure:
        """The JSON object that the server answers with."""
        content = await self.request(method, self.address + path, payload, **files)
        if isinstance(content, RequestFailure):
            return content
        try:
            values = json.loads(content)
        except (ValueError, RecursionError):
            values = None
        if isinstance(values, dict):
            return values
        shown = self.shown(content.decode("utf-8", "replace"))
        reason = f"{self.address}{path.partition('?')[0]} answered with something else than a JSON object: {shown!r}"
        return RequestFailure(reason=reason, free=False)

    def checked(self, identifier: object) -> str:
        """An id that the server gave, if it is one: it becomes part of addresses."""
        if isinstance(identifier, str) and _ID.fullmatch(identifier):
            return identifier
        raise KaratError(f"{self.address} gave an id that cannot be one: {self.shown(repr(identifier))}.")

    async def upload(self, record: BatchRecord, stream: BinaryIO) -> str:
        """Send the requests of a batch, which costs nothing; the id of the file."""
        upload = FileUpload(f"karat-{record.token[:12]}.jsonl", stream, {"purpose": "batch"})
        values, attempts = await self.with_retries(lambda: self.values("POST", "/files", upload=upload), record.token)
        if isinstance(values, RequestFailure):
            raise self.stopped(values, attempts)
        return self.checked(values.get("id"))

    async def create(self, record: BatchRecord) -> str | RequestFailure:
        """Have the server begin with a batch whose file it has: its id, or why it surely did not."""
        wanted = {
            "input_file_id": record.file_id,
            "endpoint": ENDPOINT,
            "completion_window": _WINDOW,
            "metadata": {_MARK: record.token},
        }
        is_sure = True
        for attempt in count(1):
            values = await self.values("POST", "/batches", wanted)
            if not isinstance(values, RequestFailure):
                return self.checked(values.get("id"))
            is_sure = is_sure and _was_not_done(values)  # a refusal says nothing of attempts before it
            if not is_sure and (batch_id := await self.look_for(record)):
                return batch_id
            wait = self.wait_after(attempt, values, record.token)
            if wait is None and is_sure:
                return values
            if wait is None:
                raise self.stopped(values, attempt)
            await asyncio.sleep(wait)
        raise AssertionError("attempts have no end")

    def is_refusal(self, failure: RequestFailure) -> bool:
        """Whether a batch was not created for something in it, so that another one might be."""
        return failure.reached and not failure.fatal and not failure.again and failure.status not in _NONE_THERE

    def stopped(self, failure: RequestFailure, attempts: int = 1) -> KaratError:
        """Why nothing can be sent."""
        if failure.status in _NONE_THERE:
            return KaratError(f"{self.address} takes no batches ({failure.reason}). Leave --batch out.")
        sentence = f"{self.address} failed: {after(failure, attempts)}. {failure.remedy}."
        return KaratError(failure.reason if failure.fatal or failure.refused else sentence)

    async def look_for(self, record: BatchRecord) -> str | None:
        """The id of a batch that the server may have created unheard; None: it did not."""
        for attempt in range(1, _LOOKS + 1):
            if batch_id := await self._listed(record):
                return batch_id
            if attempt < _LOOKS:
                await asyncio.sleep(backoff(2 * self.first_wait, attempt, record.token))
        return None

    async def _listed(self, record: BatchRecord) -> str | None:
        """The id of a batch, if it is among those that the server lists: newest first, so far as that is seen."""
        path, oldest = f"/batches?limit={_PAGE}", datetime.fromisoformat(record.created).timestamp() - _DAY_SECONDS
        after_last = ""
        for _ in range(_PAGES):
            page, attempts = await self.with_retries(partial(self.values, "GET", path + after_last), record.token)
            if isinstance(page, RequestFailure):
                raise self._unsure(record, after(page, attempts))
            listed = page.get("data")
            if not isinstance(listed, list):
                raise self._unsure(record, "it answered without a list of batches")
            batches = [one for one in listed if isinstance(one, dict)]
            for one in batches:
                if _is_it(one, record):
                    return self.checked(one.get("id"))
            times = [one["created_at"] for one in batches if type(one.get("created_at")) is int]
            newest_first = times == sorted(times, reverse=True) and times[:1] > times[-1:]
            if not batches or not page.get("has_more") or (newest_first and times[0] < oldest):
                return None
            after_last = f"&after={quote(self.checked(batches[-1].get('id')), safe='')}"
        raise self._unsure(record, f"it lists more than {_PAGES * _PAGE:,} batches")

    def _unsure(self, record: BatchRecord, why: str) -> KaratError:
        return KaratError(
            f"{self.address} does not tell whether it took a batch of {plural(record.requests, 'request')} ({why}). "
            "Try again later; --no-batch asks one by one, and pays a second time if it did."
        )

    async def look_at(self, record: BatchRecord) -> Values | RequestFailure:
        """A batch as the server has it now."""
        return await self.values("GET", f"/batches/{self.checked(record.batch_id)}")

    async def download(self, file_id: object, stream: BinaryIO, largest: int) -> RequestFailure | None:
        """Write a file of the server's, as far as it is no larger than that."""
        url = f"{self.address}/files/{self.checked(file_id)}/content"

        async def attempt() -> bytes | RequestFailure:
            stream.seek(0)
            stream.truncate()
            content = await self.request("GET", url, download=FileDownload(stream, largest))
            return b"" if stream.tell() > largest else content  # what there is of it is read

        outcome, _ = await self.with_retries(attempt, url)
        return outcome if isinstance(outcome, RequestFailure) else None


def _was_not_done(failure: RequestFailure) -> bool:
    """Whether a request surely had no effect. A gateway answers 408 where the server behind it was late."""
    return not failure.reached or (failure.status is not None and failure.status < 500 and failure.status != _LATE)


def _is_it(batch: Mapping[str, Any], record: BatchRecord) -> bool:
    metadata = batch.get("metadata")
    marked = isinstance(metadata, dict) and metadata.get(_MARK) == record.token
    return marked or (record.file_id is not None and batch.get("input_file_id") == record.file_id)
