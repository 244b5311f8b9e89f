"""Runs as folders for `karat view`, and a browser of a few lines that asks its application without a socket."""

import asyncio
import json
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

import numpy as np
from studies import study_of

from karat.core.docs import Chunk
from karat.core.scores import Status
from karat.core.types import Gold, Question, TestSet
from karat.experiment.outputs import write_study
from karat.experiment.store import DONE, new_run
from karat.results.serial import save_study
from karat.results.study import Failure, StudyAnswer, StudyHit
from karat.web.app import ViewSettings, create_app
from karat.web.guard import GuardSettings

PORT = 8600
HOST = f"127.0.0.1:{PORT}"
QUESTIONS = (
    Question("q1", "Where is the Boat?", kind="factual", tags={"area": "sea"}, answers=("in the harbour",),
             gold=(Gold(doc="d1", quote="the boat lies in the harbour"),)),
    Question("q2", "Who cooks?", kind="factual", tags={"area": "land"}),
    Question("q3", "When does it sail?", kind="scenario", tags={"area": "sea"}),
    Question("q4", "Why?"),
)  # fmt: skip
VALUES = {  # system -> question -> Recall@5, MRR
    "one": [[1.0, 1.0], [0.5, 0.25], [0.0, 0.0], [0.3, 0.5]],
    "two": [[0.5, 1.0], [0.5, 0.5], [np.nan, 0.2], [0.1, 0.5]],
}


def small_study(values=None, **more):
    """Two systems over four questions, with known scores, hits, answers and failures."""
    hit = StudyHit(1, 0.75, Chunk("c1", "d1", "Here the boat lies in the harbour."), holds=("the boat",),
                   legs={"bm25": (2, 3.5)})  # fmt: skip
    values = np.array([VALUES["one"], VALUES["two"]]) if values is None else values
    answers = {"one": [None, "the cook does", None, None], "two": ["in the HARBOUR", None, None, None]}
    given = {
        "testset": TestSet(QUESTIONS, name="qa"),
        "missing": {(1, 2, 0): (Status.failed, "the endpoint was down")},
        "about": {"answers": answers, "ranked": {"one": [["c1"], [], [], []], "two": [["c1", "c2"], [], [], []]}},
        "failures": (Failure("one", "q3", "below_k", detail="It stands at rank 7.", rank=7),
                     Failure("one", "q4", "not_in_pool", detail="Nobody had it.")),
        "hits": {"one": {"q1": (hit,)}},
        "answers": {
            "one": {"q2": StudyAnswer("one", "q2", "the cook does", contexts=("The cook cooks.",), used=("c9",))}
        },
    }  # fmt: skip
    return study_of(values, ("one", "two"), ("Recall@5", "MRR"), **given | more)


def run_with(runs_dir, study, name="made", *, digest="d1", **facts):
    """A finished run of a study in a folder of runs."""
    inputs = {"testset": {"digest": digest, "questions": len(study.evaluation.testset)}, "indexes": []}
    run = new_run(runs_dir, name, {"karat": "0", "inputs": inputs, "spec": {}})
    write_study(study, run.path, outputs=())
    save_study(study, run.path)
    scores = study.evaluation.scores
    means = {"mean": 0.5, "low": 0.4, "high": 0.6}
    summary = {"systems": len(scores.systems), "questions": len(scores.questions), "main": study.main}
    run.update(status=DONE, summary={**summary, "best": scores.systems[0], **means}, **facts)
    return run


@dataclass
class Reply:
    status: int
    headers: list
    body: bytes

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)

    def header(self, name):
        values = [value for key, value in self.headers if key == name]
        assert len(values) < 2, f"{name} stands twice"
        return values[0] if values else None


class Browser:
    """Asks an application as a browser that knows the token does, unless told otherwise."""

    def __init__(self, runs_dir, *, guard=None, named=()):
        self.guard = guard or GuardSettings(port=PORT)
        self.app = create_app(ViewSettings(runs_dir=runs_dir, guard=self.guard, named=named))

    def get(self, target, **how):
        return self.ask("GET", target, **how)

    def json(self, target):
        reply = self.get(target)
        assert reply.status == 200, reply.text
        return reply.json

    def post(self, target, body=b"{}", *, headers=(), **how):
        own = [("origin", f"http://{HOST}"), ("content-type", "application/json"), *headers]
        return self.ask("POST", target, body=body, headers=own, **how)

    def ask(self, method, target, *, host=HOST, token=True, headers=(), body=b"", pieces=None):
        """One request; `host` None sends none, a list several; `pieces` are a body in parts."""
        path, _, query = target.partition("?")
        hosts = host if isinstance(host, list) else [host] if host is not None else []
        given = [("host", one) for one in hosts] + [(name, value) for name, value in headers]
        if token:
            given.append(("cookie", f"{self.guard.cookie}={self.guard.token}"))
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": unquote_to_bytes(path).decode("utf-8", "replace"), "raw_path": path.encode(),
            "query_string": query.encode(), "root_path": "", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", PORT),
            "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given],
        }  # fmt: skip
        return asyncio.run(self._asked(scope, list(pieces or [body])))

    async def _asked(self, scope, pieces):
        sent = []

        async def receive():
            if not pieces:
                await asyncio.Event().wait()  # the other side stays
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def send(message):
            sent.append(message)

        await self.app(scope, receive, send)
        start = sent[0]
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]]
        return Reply(start["status"], headers, b"".join(one.get("body", b"") for one in sent[1:]))
