"""Asking by batches: prompts as files to a server's batch endpoints, and replies read when the server is done.

A batch is on record before it is created and until its replies are kept (`batches`), and one process at a time creates
some. What failed in passing is sent once more, in a batch of its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from karat.core.errors import InputError, KaratError, UsageError
from karat.core.models import ChatReply, Prompt
from karat.core.text.wellformed import well_formed
from karat.core.text.words import plural
from karat.io.lock import locked
from karat.io.writing import unwritable
from karat.models.chat._asking import BatchNews, Done
from karat.models.chat._batch_files import ReplyFile, most_bytes, outcome_of, parts, write_requests
from karat.models.chat._batch_server import BatchServer, Values
from karat.models.chat._replies import LARGEST, REFUSES_JSON
from karat.models.chat.batches import CREATING, REGISTERED, SUBMITTED, Batches, BatchRecord, BatchRequest
from karat.models.chat.budget import SpendingLedger
from karat.models.chat.cache import Call, Calls, FailedCall, now, reply_of
from karat.models.chat.settings import ChatSettings
from karat.models.endpoint import RequestFailure, after, backoff

_LONGEST_INTERVAL, _GROWTH = 60.0, 1.5
"""Seconds between two looks at a batch, at most, and how fast they grow."""
_SILENT_LOOKS = 12
"""Looks in a row that may fail before karat stops waiting."""
_ENDED = ("completed", "failed", "expired", "cancelled")
_FILES = ("output_file_id", "error_file_id")
_NOT_CREATED = "not created"
_GOES_ON = "The batch goes on at the server: run the same command again to read it; nothing is paid twice."


@dataclass(frozen=True)
class _BatchedPrompt:
    """A prompt, the body of its request, and why it is sent once more."""

    prompt: Prompt
    request: dict[str, Any]
    before: str = ""


@dataclass(frozen=True)
class _Round:
    """Prompts that go into batches together, by the keys of their calls.

    `failures` are those without a reply; `reserved` is what requests may cost that are not settled yet; `keys` are the
    calls that each batch, by its token, is waited for.
    """

    asked: Mapping[str, _BatchedPrompt]
    done: Done
    failures: dict[str, RequestFailure] = field(default_factory=dict)
    reserved: dict[str, float] = field(default_factory=dict)
    keys: dict[str, list[str]] = field(default_factory=dict)


class BatchDispatcher:
    """A server that is asked by batches. It takes prompts and hands over replies as a `ChatDispatcher` does."""

    def __init__(self, settings: ChatSettings, calls: Calls, ledger: SpendingLedger, first_wait: float) -> None:
        self.settings, self.calls, self.ledger, self.first_wait = settings, calls, ledger, first_wait
        self.endpoint = BatchServer(settings, settings.model, "/batches", first_wait=first_wait, largest=LARGEST)
        self.batches = Batches(calls)
        self._plain_json = False

    def submit(self, prompts: Mapping[str, Prompt], done: Done) -> Future[KaratError | None]:
        """Begin to ask all prompts. Each goes into `done` with its reply, None at the end; an error stops them."""
        return self.endpoint.submit(self._all(prompts, done))

    async def _all(self, prompts: Mapping[str, Prompt], done: Done) -> KaratError | None:
        asked = {key: _BatchedPrompt(prompt, self._request(prompt)) for key, prompt in prompts.items()}
        try:
            failures = await self._asked(asked, done)
            again = self._again(asked, failures)
            for key, failure in failures.items():
                if key not in again:
                    self._give_up(key, asked[key], failure, 1, done)
            if again:
                for key, failure in (await self._asked(again, done)).items():
                    self._give_up(key, again[key], failure, 2, done)
        except KaratError as error:
            return error
        finally:
            done.put(None)
        return None

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        request = self.settings.request(prompt)
        if self._plain_json and self._may_drop_json(prompt):
            del request["response_format"]
        return request

    def _may_drop_json(self, prompt: Prompt) -> bool:
        return prompt.json and "response_format" not in self.settings.extra

    def _again(
        self, asked: Mapping[str, _BatchedPrompt], failures: Mapping[str, RequestFailure]
    ) -> dict[str, _BatchedPrompt]:
        """What is sent once more: what failed in passing, and what the server may take without its JSON mode."""
        again = {}
        for key, failure in failures.items():
            one = asked[key]
            plain = {name: value for name, value in one.request.items() if name != "response_format"}
            if failure.status in REFUSES_JSON and self._may_drop_json(one.prompt) and plain != one.request:
                again[key] = _BatchedPrompt(one.prompt, plain, failure.reason)
            elif failure.again and self.settings.retries:
                again[key] = replace(one, before=failure.reason)
        return again

    def _give_up(self, key: str, asked: _BatchedPrompt, failure: RequestFailure, attempts: int, done: Done) -> None:
        reason = well_formed(after(failure, attempts))
        self._add_failure(_row(key, asked), reason, attempts)
        self.ledger.count(failed=1)
        done.put((key, ChatReply(error=reason, model=self.settings.model)))

    def _add_failure(self, row: BatchRequest, reason: str, attempts: int) -> None:
        self.calls.add_failure(FailedCall(**self._about(row), reason=reason, attempts=attempts, created=now()))

    def _about(self, row: BatchRequest) -> dict[str, str]:
        return {"key": row.key, "model": self.settings.model, "purpose": row.purpose, "request": row.request}

    async def _asked(self, asked: Mapping[str, _BatchedPrompt], done: Done) -> dict[str, RequestFailure]:
        """Ask all of these by batches, those under way first, and wait. Returns why some have no reply."""
        this = _Round(asked, done)
        try:
            async with self._submitting():
                records = await self._resumed(this)
                waited = {key for keys in this.keys.values() for key in keys}
                new = self._unread(this, [key for key in asked if key not in waited])  # after the look at batches
                records += await self._submitted(this, new)
            await self._wait(this, records)
        finally:
            for most in this.reserved.values():  # it was stopped: what is under way counts again when it is read
                self.ledger.free(most, reached=False)
        return this.failures

    @asynccontextmanager
    async def _submitting(self) -> AsyncIterator[None]:
        """Keep every other process from creating batches of the same file; one that is killed lets go."""
        path = self.batches.calls.path
        with ExitStack() as held:
            for attempt in count(1):
                try:
                    held.enter_context(locked(path.parent, "busy", f".{path.name}.lock"))
                    break
                except UsageError:
                    await asyncio.sleep(min(backoff(self.first_wait, attempt, ""), 1.0))
            yield

    def _unread(self, this: _Round, keys: Sequence[str]) -> list[str]:
        """Those of these calls that nobody has read meanwhile; the replies of the others are handed over."""
        missing = []
        for key in keys:
            if call := self.calls.get(key):
                self.ledger.count(cached=1)
                this.done.put((key, reply_of(call)))
            else:
                missing.append(key)
        return missing

    def _read_elsewhere(self, this: _Round, token: str) -> None:
        """Another process has read a batch: its replies are among the calls, which those without one are not."""
        reason = "another process read the batch, which held no reply to it"
        for key in self._unread(this, this.keys[token]):
            this.failures[key] = RequestFailure(reason=reason, again=False, reached=False)

    async def _resumed(self, this: _Round) -> list[BatchRecord]:
        """Batches under way that hold some of the calls. One that was never created is forgotten."""
        records = []
        for key, token in self.batches.tokens().items():
            if key in this.asked:
                this.keys.setdefault(token, []).append(key)
        for token in list(this.keys):
            record = self.batches.record(token)
            if record.state == CREATING and (batch_id := await self.endpoint.look_for(record)):
                record = self.batches.update(record, state=SUBMITTED, batch_id=batch_id)
            if record.state in (REGISTERED, CREATING):
                self.batches.close(record, _NOT_CREATED)
                del this.keys[token]
            elif record.state != SUBMITTED:
                self._read_elsewhere(this, token)
            else:
                for row in self.batches.requests(token):
                    this.reserved[row.key] = self._most(row)
                    self.ledger.reserve(this.reserved[row.key], committed=True)
                since = f"submitted {record.created[:16].replace('T', ' ')} UTC"
                this.done.put(BatchNews(f"reading {record.batch_id}: {plural(record.requests, 'request')}, {since}"))
                records.append(record)
        return records

    async def _submitted(self, this: _Round, keys: Sequence[str]) -> list[BatchRecord]:
        """New batches of these calls, as far as the budget has room for each at its most expensive."""
        allowed = []
        for key in keys:
            row = _row(key, this.asked[key])
            if self.ledger.reserve(most := self._most(row)):
                this.reserved[key] = most
                allowed.append((key, row.purpose, row.request))
                continue
            self.ledger.count(not_asked=1)
            before = this.asked[key].before
            why = f"{before}; not asked again" if before else "not asked"
            this.done.put((key, ChatReply(error=f"{why}: {self.ledger.batch_refusal}")))
        records = []
        for part in parts(allowed):
            record = await self._created(this, self.batches.register(self.settings.server, self.settings.model, part))
            if record is not None:
                records.append(record)
                this.keys[record.token] = [key for key, _, _ in part]
                submitted = f"submitted {plural(record.requests, 'request')} as {record.batch_id}"
                this.done.put(BatchNews(f"{submitted}; if karat is stopped, the same command reads the replies later"))
        return records

    def _most(self, row: BatchRequest) -> float:
        try:
            request = json.loads(row.request)
            return self.ledger.most(request, request.get("max_completion_tokens", request.get("max_tokens", 0)))
        except (ValueError, TypeError, KeyError, AttributeError):
            path = str(self.batches.calls.path)
            raise InputError("a request of a batch in it was damaged", place=path, remedy="Restore a copy.") from None

    async def _created(self, this: _Round, record: BatchRecord) -> BatchRecord | None:
        """A batch that is on record, at the server; None where that refuses it: nothing was asked then."""
        try:
            with self._temporary_file() as stream:
                write_requests(stream, self.batches.requests(record.token))
                file_id = await self.endpoint.upload(record, stream)
        except KaratError:
            self.batches.close(record, _NOT_CREATED)
            raise
        record = self.batches.update(record, file_id=file_id, state=CREATING)
        batch_id = await self.endpoint.create(record)
        if isinstance(batch_id, str):
            return self.batches.update(record, batch_id=batch_id, state=SUBMITTED)
        if self.endpoint.is_refusal(batch_id):
            reason = f"the server refused the batch: {batch_id.reason}"
            for row in self.batches.requests(record.token):
                self._settle(this, row, RequestFailure(reason=reason, again=False, reached=False))
        self.batches.close(record, _NOT_CREATED)
        if not self.endpoint.is_refusal(batch_id):
            raise self.endpoint.stopped(batch_id)
        return None

    async def _wait(self, this: _Round, records: Sequence[BatchRecord]) -> None:
        """Look at batches until all have ended, and read each that has."""
        pending, silent, interval = list(records), 0, self.first_wait
        finished = dict.fromkeys((record.token for record in records), 0)
        while pending:
            state = ""
            for record in list(pending):
                batch = await self.endpoint.look_at(record)
                if isinstance(batch, RequestFailure):
                    silent += 1
                    if batch.fatal or not batch.again or silent > _SILENT_LOOKS:
                        raise self._lost(record, batch)
                    continue
                silent, state = 0, str(batch.get("status", "")).lower()
                finished[record.token] = min(_finished(batch.get("request_counts")), record.requests)
                if state in _ENDED:
                    await self._read(this, record, batch, state)
                    pending.remove(record)
            if pending:
                shown = self.endpoint.shown(state.replace("_", " ")) or "not heard of"
                what = f"batch {shown}, {_time_since(pending[0].created)} so far"
                total = sum(record.requests for record in records)
                this.done.put(BatchNews(what, sum(finished.values()), total))
                await asyncio.sleep(interval)
                interval = min(interval * _GROWTH, _LONGEST_INTERVAL)

    def _lost(self, record: BatchRecord, failure: RequestFailure) -> KaratError:
        """Why a batch is waited for no longer."""
        if failure.status == 404:
            return KaratError(
                f"{self.endpoint.address} does not have {record.batch_id}, or its replies: karat submitted it on "
                f"{record.created[:10]}, with {plural(record.requests, 'request')}. Use the account that it was "
                "submitted by; --no-batch asks one by one, and pays a second time."
            )
        sentence = failure.reason if failure.fatal else f"{failure.reason}. {failure.remedy}."
        return KaratError(f"{sentence} {_GOES_ON}")

    async def _read(self, this: _Round, record: BatchRecord, batch: Values, state: str) -> None:
        """Keep every reply of a batch that has ended, and account for every request."""
        rows = self.batches.requests(record.token)
        if not rows:
            self._read_elsewhere(this, record.token)
            return
        custom_ids = {row.custom_id for row in rows}
        with ExitStack() as opened:
            files = []
            for name in _FILES:
                stream = opened.enter_context(self._temporary_file())
                if batch.get(name):
                    failure = await self.endpoint.download(batch[name], stream, most_bytes(len(rows)))
                    if failure is not None:
                        raise self._lost(record, failure)
                files.append(ReplyFile(stream, custom_ids))
            for row in rows:
                self._settle(this, row, self._outcome(row, files, batch, state))
                await asyncio.sleep(0)  # it may be stopped between any two
        self.batches.close(record, state)

    def _outcome(
        self, row: BatchRequest, files: Sequence[ReplyFile], batch: Values, state: str
    ) -> Call | RequestFailure:
        """What a batch brought of a request: its reply, or else what is said of it."""
        for file in files:
            line = file.line(row.custom_id)
            if isinstance(line, RequestFailure):
                return line
            if line is not None:
                return outcome_of(self.endpoint, line, self._about(row))
        if state == "failed":
            words = self.endpoint.words_of(json.dumps(_first_problem(batch.get("errors"))).encode())
            return RequestFailure(reason=f"the batch failed: {words}", again=False, reached=False)
        if state in ("expired", "cancelled") and not any(file.unusable for file in files):
            reason = f"the batch {'expired' if state == 'expired' else 'was cancelled'} before it was asked"
            return RequestFailure(reason=reason, again=state == "expired", reached=False)
        note = "".join(file.note for file in files)
        return RequestFailure(reason=f"the batch ended without a reply to it{note}", again=False, free=False)

    def _settle(self, this: _Round, row: BatchRequest, outcome: Call | RequestFailure) -> None:
        """Keep what came of a request, and what it cost, once: another process may read the same batch."""
        most, one = this.reserved.pop(row.key), this.asked.get(row.key)
        if isinstance(outcome, RequestFailure):
            self.ledger.settle(outcome, most)
            if one is not None:
                this.failures[row.key] = outcome
            else:
                self._add_failure(row, well_formed(outcome.reason), 1)
            return
        call = replace(outcome, cost_usd=self.settings.cost_of(outcome.prompt_tokens, outcome.completion_tokens))
        is_new = self.calls.add(call)  # before anyone sees it
        if is_new:
            self.ledger.settle(call, most)
        else:
            self.ledger.free(most, reached=False)
            self.ledger.count(cached=int(one is not None))
        if one is not None:
            self._plain_json |= self._may_drop_json(one.prompt) and "response_format" not in one.request
            this.done.put((row.key, replace(reply_of(call), cached=not is_new)))

    @contextmanager
    def _temporary_file(self) -> Iterator[BinaryIO]:
        """A file without a name beside the calls, for what is sent or received."""
        folder = self.batches.calls.path.parent
        try:
            with TemporaryFile(dir=folder) as stream:
                yield stream
        except OSError as problem:
            raise unwritable(folder, problem) from None


def _row(key: str, asked: _BatchedPrompt) -> BatchRequest:
    return BatchRequest("", key, well_formed(asked.prompt.purpose), json.dumps(asked.request, ensure_ascii=False))


def _finished(counts: object) -> int:
    """How many requests a batch is done with, by the server's word."""
    known = [counts.get(name) for name in ("completed", "failed")] if isinstance(counts, dict) else []
    return sum(number for number in known if type(number) is int and number > 0)


def _first_problem(errors: object) -> object:
    """What the server says first of a batch that failed."""
    problems = errors.get("data") if isinstance(errors, dict) else None
    return problems[0] if isinstance(problems, list) and problems else errors


def _time_since(moment: str) -> str:
    seconds = (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} hours"
