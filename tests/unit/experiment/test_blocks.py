"""Answers, claims and measures by blocks: the same as by the plain loop, whoever does the blocks."""

from dataclasses import replace

import numpy as np
import pytest
from blocked import Cluster

import karat.experiment.blocks as work
from karat.answer import AnswererSettings, answerer_named
from karat.core.answered import AnswerTable
from karat.core.asked import AnswerRequest, Context
from karat.core.errors import KaratError
from karat.core.language import parse, parse_all
from karat.core.measure import MEASURES
from karat.core.types import Nugget, Turn
from karat.experiment.block_stages import AnswerBlock, JudgeBlock
from karat.experiment.claims import ClaimSource, with_claims
from karat.experiment.models import ModelSettings, models_of
from karat.measures.compute import compute
from karat.measures.entailment.judging import BatchVerdicts, ClaimBatch, ClaimPremise, SplitText
from karat.models import EmbedderSettings
from karat.pool import BlockPool, LocalPool, _blocks

WORDS = (
    *(["the", "museum", "opens", "at", "nine", "and", "closes", "on", "12", "March", "2024"]),
    *(["because", "Paris", "has", "300", "visitors", "[1]", "not", "never"]),
)
DRAW = np.random.default_rng(1)
N = 40


def text(least=4):
    return " ".join(" ".join(DRAW.choice(WORDS, DRAW.integers(least, 12))).capitalize() + "." for _ in range(2))


def table(questions=N, models=None):
    """Two systems whose answers may be missing or empty, with whatever a measure may look at."""
    pairs = 2 * questions
    return AnswerTable(
        ("x", "y"),
        tuple(f"q{i}" for i in range(questions)),
        texts=[f"{text()}?" for _ in range(questions)] * 2,
        answers=[None if i % 19 == 7 else "" if i % 17 == 3 else text() for i in range(pairs)],
        references=[tuple(text() for _ in range(i % 3)) for i in range(questions)] * 2,
        contexts=[None if i % 23 == 5 else (text(), text()) for i in range(pairs)],
        context_ids=[() if i % 23 == 5 else ("a", "b") for i in range(pairs)],
        answerable=[i % 9 != 4 for i in range(questions)] * 2,
        nuggets=[(Nugget("a fact"), Nugget("another", vital=False))] * pairs,
        history=[(Turn("Who?", "Me."), Turn("Why?")) if i % 5 == 0 else () for i in range(pairs)],
        confidence=[0.5] * pairs,
        context_gold=[True, None] * questions,
        models=models or models_of(),
    )


@pytest.fixture(params=["a cluster", "processes", "here"])
def pool(request, tmp_path, monkeypatch):
    """Who does blocks of a few rows."""
    for name in ("ANSWERED", "SCORED", "JUDGED"):
        monkeypatch.setattr(work, name, 16)
    if request.param == "processes":
        monkeypatch.setattr(_blocks, "PAYS", 0.0)
    pools = {"a cluster": Cluster(), "processes": LocalPool(2), "here": LocalPool(1)}
    return BlockPool(pools[request.param], tmp_path / "blocks")


def measures():
    """Every use of a measure of answers that asks no chat model and no cross-encoder."""
    found = {}
    for spec in (MEASURES.get(name) for name in MEASURES.names()):
        for one in map(parse, (spec.name, *spec.variants)) if spec.stage == "answer" else ():
            alone = parse(one.without_chat) if "chat" in one.needs and one.without_chat else one
            if not {"chat", "cross_encoder"} & set(alone.needs) and not alone.relations:
                found[alone.name] = alone
    return tuple(found.values())


def test_every_measure_of_answers_gives_the_same_by_blocks(pool):
    plain = table()
    asked = measures()
    assert {"ROUGE-L", "SemanticSimilarity", "Faithfulness(by=heuristic)", "eRAG"} <= {one.name for one in asked}
    models = models_of(pool=pool)
    if not pool.pool.is_cluster and pool.pool.jobs > 1:
        asked = parse_all("ROUGE-L, SemanticSimilarity, Faithfulness(by=heuristic), BLEU")
    assert set(models.blocks(replace(plain, models=models, made={}), asked)) == {one.name for one in asked}
    here = compute(asked, plain.systems, plain.questions, answered=plain)
    there = compute(asked, plain.systems, plain.questions, answered=replace(plain, models=models, made={}))
    assert here.values.tobytes() == there.values.tobytes()
    assert (here.status == there.status).all()
    assert (here.reasons, here.details, here.floors) == (there.reasons, there.details, there.floors)
    if isinstance(pool.pool, Cluster):
        assert pool.pool.shards == [("score", f"block {number}") for number in range(3)] * 2


def test_what_asks_a_model_and_what_others_wrote_stays_with_who_leads():
    answered = table(models=models_of(pool=BlockPool(Cluster())))
    asked = parse_all("Faithfulness, CrossEncoder, ClaimPrecision")
    assert answered.models.blocks(answered, asked) == {}
    assert answered.models.blocks(table(3), parse_all("ROUGE-L")) == {}  # one block


def requests(count=N):
    return [
        AnswerRequest(f"q{i}", f"{text()}?", tuple(Context(f"d{j}", text(), "Title", source="p. 1") for j in range(3)))
        for i in range(count)
    ]


def answered_by(answerer, asked):
    got = []
    answerer.answer(asked, lambda one, answer: got.append((one.id, replace(answer, seconds={}))))
    return got


@pytest.mark.parametrize("name", ["extractive", "reciter"])
def test_answers_are_the_same_and_come_in_the_same_order(pool, name):
    asked, settings, models = requests(), AnswererSettings(name, contexts=2), models_of(pool=pool)
    answerer = answerer_named(settings, models)
    by_blocks = models.blocks.answerer(answerer, settings, models)
    assert by_blocks is not answerer
    assert (by_blocks.name, by_blocks.fingerprint) == (answerer.name, answerer.fingerprint)
    assert answered_by(by_blocks, asked) == answered_by(answerer, asked)


def test_an_answer_that_failed_keeps_its_reason(monkeypatch, tmp_path):
    monkeypatch.setattr(work, "ANSWERED", 16)

    def fails(self, texts, role):
        raise KaratError("no memory.")

    monkeypatch.setattr("karat.models._embedder.Encoder.embed", fails)
    settings, models = AnswererSettings(), models_of(pool=BlockPool(Cluster(), tmp_path / "blocks"))
    answers = answered_by(models.blocks.answerer(answerer_named(settings, models), settings, models), requests())
    assert {(one.text, one.error) for _, one in answers} == {(None, "the texts could not be embedded: no memory.")}


def test_an_endpoint_is_asked_from_one_place():
    settings = AnswererSettings()
    endpoint = models_of(
        ModelSettings(embedder=EmbedderSettings.parse("openai:small", base_url="http://127.0.0.1:9/v1")),
        pool=BlockPool(Cluster()),
    )
    answerer = answerer_named(settings, models_of())
    assert endpoint.blocks.answerer(answerer, settings, endpoint) is answerer
    assert endpoint.blocks(table(600, endpoint), parse_all("SemanticSimilarity")) == {}


def test_another_model_at_a_worker_is_refused():
    plain = {"answerer": AnswererSettings().plain(), "embedder": None, "fingerprint": "another"}
    with pytest.raises(KaratError, match=r"the worker .* has another answerer"):
        AnswerBlock(plain, lambda *step: None)
    with pytest.raises(KaratError, match=r"the worker .* has another judge of claims"):
        JudgeBlock({"judge": "lexical", "judged_by": "lexical/0"}, lambda *step: None)


def test_claims_are_the_same(pool, tmp_path):
    plain = table()
    asked = parse_all("ClaimPrecision, ClaimRecall, NoiseSensitivity")
    settings = ModelSettings(claims=ClaimSource("lexical"))
    tables = []
    for models in (models_of(settings), models_of(settings, pool=pool)):
        answered = with_claims(replace(plain, models=models, made={}), asked)
        tables.append(answered.claims)
    one, other = tables
    assert len(one.claim) > 100
    for name in ("pair", "side", "claim", "premise", "passage", "verdict"):
        assert (getattr(one, name) == getattr(other, name)).all(), name
    assert (one.texts, one.reasons, one.failed) == (other.texts, other.reasons, other.failed)


class Odd:
    """A judge of claims that fails where a claim says so, and saw only the beginning of each claim."""

    name = prompt = "odd"
    most, tasks, cut = 5, frozenset(("entail",)), 0

    def split(self, texts):
        return [SplitText(error="unreadable") if text == "?" else SplitText((text,)) for _, text in texts]

    def judge(self, batches):
        self.cut += sum(len(one.claims) for one in batches)
        return [
            BatchVerdicts(error="unreadable") if "?" in one.claims else BatchVerdicts(tuple((1, c) for c in one.claims))
            for one in batches
        ]

    def notes(self):
        return [f"{self.cut} cut"]


def test_a_failed_row_of_a_judge_stays_one_and_batches_may_cross_blocks(monkeypatch):
    monkeypatch.setattr(work, "JUDGED", 3)
    judge = work._BlockJudge(Odd(), "lexical", BlockPool(LocalPool(1)))
    assert judge.split([("q", "a"), ("q", "?")]) == [SplitText(("a",)), SplitText(error="unreadable")]
    batches = [ClaimBatch("entail", ClaimPremise(("p",)), tuple(claims)) for claims in ("abcd", "e?", "fghij")]
    said = [BatchVerdicts(tuple((1, c) for c in "abcd")), BatchVerdicts(error="unreadable")]
    assert judge.judge(batches) == [*said, BatchVerdicts(tuple((1, c) for c in "fghij"))]
    assert judge.notes() == ["11 cut"]
