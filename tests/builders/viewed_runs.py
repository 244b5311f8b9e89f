"""Runs as `karat view` shows them, made up: one with all that a study can hold, one of as many rows as wanted."""

import threading
import time
from contextlib import contextmanager

import numpy as np
import polars as pl

from karat.core.docs import Chunk
from karat.core.language import parse_all
from karat.core.scores import Scores
from karat.core.types import Gold, Question, TestSet, Turn
from karat.experiment.store import RunFolder
from karat.report.outputs.parquet import render as parquet
from karat.results.evaluation import Evaluation
from karat.results.serial import save_study
from karat.results.study import Cell, Choice, Configuration, Failure, FailureCount, Study, StudyAnswer, StudyHit
from karat.stats.summary import summarise
from karat.web.app import ViewSettings, create_app
from karat.web.guard import GuardSettings
from karat.web.server import listen

HOSTILE = '<script>document.title = "taken"</script></script>"><img src=x onerror="document.title = \'taken\'">'
UNSEEN = "\u202eesrever\u202c \x1b[31mred\x1b[0m \u2066x\u2069"
SYSTEMS = ("hybrid", f"<b>bm25</b> {UNSEEN}", "dense")
KINDS = ("fact", "<i>list</i>")
N = 40
SMALL, BIG = "20260102T000000Z-small-0000aa", "20260101T000000Z-big-0000bb"
ROWS = 100_000


def made_study():
    """Three systems over forty questions, with answers, verdicts and words that try to take the page over."""
    questions = [
        Question(
            f"q{i} {HOSTILE}" if i == 3 else f"q{i}",
            f"When is pump {i} checked? {HOSTILE} {UNSEEN}" + " and so on" * (1_000 if i == 5 else 0),
            answers=(f"in week {i}",), gold=(Gold(doc="d0", quote="Pumps are checked in week 12."),), kind=KINDS[i % 2],
            tags={"level": ("easy", "hard")[i // 20]},
            history=(Turn(f"I have pump {i}.", f"Good. {HOSTILE}"),) if i == 6 else (),
        )
        for i in range(N)
    ]  # fmt: skip
    measures = parse_all(("F1@5", "Recall@5", "Correctness", "SentenceSupport"))
    values = np.tile(np.linspace(0, 1, N)[None, :, None], (3, 1, len(measures)))
    values[1] = values[1, ::-1]
    details = {}
    for q in range(N):
        claims = [{"claim": f"week {q} {HOSTILE}", "verdict": "missing", "reason": HOSTILE}]
        details[0, q, 2] = {"by": "model", "reason": f"1 claim {HOSTILE}", "claims": claims, "model": "judge"}
        by = {"context": 1, "text": "Pumps are checked in week 12."}
        sentences = [{"text": "It is week 12.", "support": 0.75, "by": by, "supported": True}]
        details[0, q, 3] = {"sentences": sentences}
    ids = tuple(q.id for q in questions)
    status = np.zeros(values.shape, np.uint8)
    scores = Scores(SYSTEMS, ids, measures, values=values, status=status, reasons={}, details=details)
    texts = (f"Pumps are checked in week 12. {HOSTILE}", f"Nothing here. {UNSEEN}", "Oil is SAE 30.", "A pump.")
    hits = tuple(
        StudyHit(i + 1, 1 - i / 10, Chunk(f"c{i}", f"d{i} {HOSTILE}", text, url="javascript:alert(1)", pages=(i + 1,)),
                 holds=("d0",) if i == 0 else (), legs={"bm25": (i + 2, 3.5), "dense": (i + 1, 0.25)})
        for i, text in enumerate(texts)
    )  # fmt: skip
    answers = {
        SYSTEMS[0]: {
            id_: StudyAnswer(SYSTEMS[0], id_, f"Week 12 [1], oil SAE 30 [3, 9]. {HOSTILE}", error=None, contexts=texts,
                             used=("c0", "c1", "c2"), given=("c0", "c1", "c2"), model="model", tokens=120,
                             cost_usd=0.5, confidence=0.8, declined=False, seconds=0.25)
            for id_ in ids
        }
    }  # fmt: skip
    best = Cell(system=SYSTEMS[0], measure="F1@5", k=5, mean=0.5, low=0.4, high=0.6, n=N)
    return Study(
        name=f"small {HOSTILE}",
        evaluation=Evaluation(
            testset=TestSet(questions), scores=scores,
            summaries=summarise(scores, slices={"kind": [q.kind for q in questions]}), notes=(),
            answers={SYSTEMS[0]: [answers[SYSTEMS[0]][id_].text for id_ in ids]},
        ),
        configurations=tuple(Configuration(s) for s in SYSTEMS), main="F1@5", k=3,
        choice=Choice(measure="F1", cells=(best,), best=best, equals=(), beaten=(), cross_validated=None,
                      optimism=None, picks={}, oracle=None, sentences=(f"{SYSTEMS[0]} is best. {HOSTILE}",)),
        failures=tuple(Failure(SYSTEMS[0], id_, "below_k", detail=f"rank 7 {HOSTILE}", rank=7) for id_ in ids[:8]),
        failure_counts=(FailureCount(SYSTEMS[0], "below_k", questions=ids[:8], gain=0.1),),
        hits={s: dict.fromkeys(ids, hits if n != 1 else hits[::-1]) for n, s in enumerate(SYSTEMS)},
        answers=answers,
    )  # fmt: skip


def write_small(runs, id_=SMALL, mean=0.5, name=None):
    """The run of `made_study`."""
    study = made_study()
    folder = runs / id_
    folder.mkdir(parents=True)
    save_study(study, folder)
    (folder / "rows.parquet").write_bytes(parquet(study.evaluation))
    _manifest(folder, name or study.name, "F1@5", SYSTEMS[0], mean, systems=len(SYSTEMS), questions=N)
    return id_


def write_big(runs, rows=ROWS):
    """A run of many questions and two systems, of which there are rows alone."""
    folder = runs / BIG
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    numbers = range(rows)
    shared = {
        "question_id": [f"q{i}" for i in numbers],
        "question": [f"What does section {i} say of topic {i % 97}?" for i in numbers],
        "kind": [("fact", "list", "number", "steps")[i % 4] for i in numbers],
    }
    frames = [
        pl.DataFrame(shared).with_columns(
            pl.lit(system).alias("system"), pl.lit("ok").alias("status"),
            pl.Series("F1@5", rng.random(rows).round(4)), pl.lit("ok").alias("F1@5.status"),
            pl.lit(None, pl.String).alias("F1@5.reason"),
        )
        for system in ("bm25", "dense")
    ]  # fmt: skip
    pl.concat(frames).write_parquet(folder / "rows.parquet", compression_level=1)
    _manifest(folder, "big", "F1@5", "dense", 0.5, systems=2, questions=rows)
    return BIG


def _manifest(folder, name, main, best, mean, **counts):
    day = f"{folder.name[:4]}-{folder.name[4:6]}-{folder.name[6:8]}"
    summary = {"main": main, "best": best, "mean": mean, "low": mean - 0.1, "high": mean + 0.1, **counts}
    inputs = {"testset": {"digest": f"{counts['questions']:064d}"}}
    RunFolder(folder, {}).update(
        name=name, status="done", started=f"{day}T00:00:00+00:00", finished=f"{day}T01:00:00+00:00", summary=summary,
        inputs=inputs, karat="0.4.0", digest=folder.name,
    )  # fmt: skip


class ViewServer:
    """`karat view` over a folder of runs, in a thread; it can be stopped, and started again where it was."""

    def __init__(self, runs):
        self.runs, self.port, self.token, self._server = runs, 0, "t" * 43, None

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        import uvicorn

        listening, names = listen("127.0.0.1", self.port)
        self.port = listening.getsockname()[1]
        app = create_app(ViewSettings(runs_dir=self.runs, guard=GuardSettings(self.port, self.token, names)))
        config = uvicorn.Config(app, ws="none", lifespan="off", log_config=None, timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True)
        self._thread.start()
        end = time.monotonic() + 20
        while not self._server.started and time.monotonic() < end:
            time.sleep(0.02)

    def stop(self):
        self._server.should_exit = True
        self._thread.join(20)


@contextmanager
def serving(runs):
    """A server over these runs, stopped at the end."""
    server = ViewServer(runs)
    server.start()
    try:
        yield server
    finally:
        server.stop()
