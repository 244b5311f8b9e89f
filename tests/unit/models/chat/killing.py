"""Asks prompts by batches, each time in a fork of this process that kills itself at a given step, or lives.

Each line of standard input is a JSON object: the address of the server, the file of calls, and the number of the step
to be killed at, or null. The answer is a line of JSON: the signal that ended the fork, and the steps that it counted,
its replies and what it spent if it lived. A step is the moment after a request to the server, in or after a record of
batches, or after a reply is kept: between two of them nothing is changed that outlasts the process.
"""

import json
import os
import signal
import sys
from contextlib import contextmanager

from karat.core.models import Prompt
from karat.models.chat import Calls, Chat, ChatSettings
from karat.models.chat._batch_server import BatchServer
from karat.models.endpoint import _certificates

PROMPTS = [Prompt(f"question {n}", purpose="answer") for n in range(4)]


class Steps:
    """Counts steps, and kills this process at one."""

    def __init__(self, at):
        self.at, self.labels = at, []

    def step(self, label):
        if len(self.labels) == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.labels.append(label)


def hooked(steps):
    request, durably, insert = BatchServer.request, Calls.durably, Calls._insert

    async def stepped_request(self, method, url, *more, **files):
        reply = await request(self, method, url, *more, **files)
        steps.step(f"{method} {url.partition('/v1')[2]}")
        return reply

    @contextmanager
    def stepped_durably(self):
        with durably(self) as connection:
            yield connection
            steps.step("within a record")
        steps.step("a record")

    def stepped_insert(self, *values):
        is_new = insert(self, *values)
        steps.step("a reply is kept")
        return is_new

    BatchServer.request, Calls.durably, Calls._insert = stepped_request, stepped_durably, stepped_insert


def ask(url, path, at):
    steps = Steps(at)
    hooked(steps)
    prices = {"price_in_usd": 1.0, "price_out_usd": 2.0, "price_batch": 0.5}
    settings = ChatSettings("fake", base_url=url, batch=True, retries=2, **prices)
    with Calls(path) as calls, Chat(settings, calls, first_wait_seconds=0.001) as chat:
        replies = [reply.text for reply in chat.ask(PROMPTS)]
        kept = sum(call.cost_usd for call in calls)
    return {"steps": steps.labels, "replies": replies, "cost": chat.spent.cost_usd, "kept": kept}


def forked(url, path, at):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "w") as out:
            out.write(json.dumps(ask(url, path, at)))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        said = told.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {"signal": -code, **json.loads(said or "{}")}


if __name__ == "__main__":
    _certificates()  # once for all forks
    for line in sys.stdin:
        print(json.dumps(forked(**json.loads(line))), flush=True)
