"""The cross-encoder, with a tiny BERT of random weights (seeded): it means nothing and must still behave."""

import json
import os
import socket
import sys

import numpy as np
import pytest

from karat import score
from karat.core.errors import InputError, UsageError
from karat.core.ranked import Ranked
from karat.models.cross_encoder import CrossEncoder
from karat.retrieve import rerank

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*SPECIAL, "where", "is", "the", "night", "watch", "six", "hours", "engine", "room", "fuel", "kept"]
PASSAGES = ["the night watch", "engine room", "fuel is kept", "six hours", "the engine", "night", "watch hours", ""]


def random_cross_encoder(folder, labels=1):
    """Saves a random-weight model, untrained, in a folder."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        initializer_range=0.8,
        num_labels=labels,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(vocab={word: i for i, word in enumerate(WORDS)}).save_pretrained(folder)
    logging.enable_progress_bar()
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return random_cross_encoder(tmp_path_factory.mktemp("random-cross-encoder"))


@pytest.fixture
def offline(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.sbert
def test_it_scores_without_network_or_environment_and_the_same_again(folder, offline):
    before = dict(os.environ)
    told = []
    pairs = [("where is the fuel", passage) for passage in PASSAGES]
    first = CrossEncoder(folder).score(pairs, lambda *step: told.append(step))
    again = CrossEncoder(str(folder)).score(pairs)
    assert first.dtype == np.float64
    assert np.isfinite(first).all()
    assert len(set(first.tolist())) > 5
    np.testing.assert_array_equal(first, again)
    assert told == [("reranking", 8, 8)]
    assert {k: v for k, v in os.environ.items() if k.startswith(("HF_", "TRANSFORMERS"))} == {
        k: v for k, v in before.items() if k.startswith(("HF_", "TRANSFORMERS"))
    }


@pytest.mark.sbert
def test_scores_are_the_models_own_numbers(folder):
    """As transformers computes them for one pair, without a sigmoid and without dropout."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    model.eval()
    with torch.no_grad():
        logits = model(**tokenizer("where is the fuel", "fuel is kept", return_tensors="pt")).logits
    (score,) = CrossEncoder(folder).score([("where is the fuel", "fuel is kept")])
    assert score == pytest.approx(float(logits[0, 0]), abs=1e-5)


@pytest.mark.sbert
def test_long_empty_and_odd_texts_score_too(folder):
    encoder = CrossEncoder(folder, batch=2)
    odd = [("watch " * 500, "night " * 500), ("", ""), ("\ud800", "где वहाँ"), ("watch", "night\0")]
    assert np.isfinite(encoder.score(odd)).all()
    assert encoder.score([]).shape == (0,)


@pytest.mark.sbert
def test_reranking_reorders_and_does_not_depend_on_the_other_queries(folder):
    encoder = CrossEncoder(folder)
    rows = np.arange(8)
    one = Ranked(np.array([0, 8]), rows, np.linspace(1, 0, 8))
    done = rerank(one, PASSAGES.__getitem__, ["where is the fuel"], encoder, depth=6).ranked
    assert sorted(done.rows[:6].tolist()) == list(range(6))
    assert done.rows[:6].tolist() != list(range(6))
    assert done.rows[6:].tolist() == [6, 7]
    assert done.scores[:6].tolist() == sorted(done.scores[:6].tolist(), reverse=True)
    both = Ranked(np.array([0, 8, 16]), np.tile(rows, 2), np.tile(np.linspace(1, 0, 8), 2))
    queries = ["night watch " * 8, "where is the fuel"]
    again = rerank(both, PASSAGES.__getitem__, queries, encoder, depth=6).ranked
    np.testing.assert_array_equal(again.of(1)[0], done.rows)
    np.testing.assert_array_equal(again.of(1)[1], done.scores)


@pytest.mark.sbert
def test_a_classifier_of_several_classes_is_refused(tmp_path):
    with pytest.raises(InputError, match="classifier of 3 classes"):
        CrossEncoder(random_cross_encoder(tmp_path, labels=3))


@pytest.mark.sbert
def test_a_damaged_model_is_named(folder, tmp_path):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="cannot be loaded as a cross-encoder") as caught:
        CrossEncoder(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_what_is_no_folder(tmp_path):
    with pytest.raises(InputError, match=r"does not exist\. karat never downloads a model"):
        CrossEncoder("cross-encoder/ms-marco-MiniLM-L6-v2")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is not a folder"):
        CrossEncoder(tmp_path / "file")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "no readable config.json"),
        ({"config.json": "{"}, "no readable config.json"),
        ({"config.json": "{}"}, "no .safetensors weights"),
        ({"config.json": "{}", "pytorch_model.bin": "x"}, "pickles, which can run code"),
        (
            {"config.json": "{}", "model.safetensors": "x", "modules.json": json.dumps([{"type": "mine.Evil"}])},
            r"code of its own \(mine.Evil\)",
        ),
        ({"config.json": "{}", "model.safetensors": "x", "modules.json": "[3]"}, "code of its own"),
    ],
)
def test_a_foreign_folder_is_refused_before_anything_is_loaded(tmp_path, monkeypatch, files, words):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=words):
        CrossEncoder(tmp_path)


def test_the_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(UsageError, match=r"pip install 'karat\[sbert\]'"):
        CrossEncoder(tmp_path)


@pytest.mark.sbert
def test_the_measure_takes_the_numbers_of_the_model_through_one_sigmoid(folder):
    logits = CrossEncoder(folder).score([("the fuel", "fuel is kept"), ("the fuel", "night")])
    questions = [{"id": "1", "question": "where", "answers": ["fuel is kept", "night"], "gold": []}]
    report = score(questions, [{"id": "1", "answer": "the fuel"}], measures="CrossEncoder", cross_encoder=folder)
    assert report.mean("CrossEncoder") == pytest.approx(1 / (1 + np.exp(-logits.max())))
