"""The NLI model, with a tiny BERT of random weights (seeded, untrained): its verdicts mean nothing."""

import json
import sys

import pytest

from karat.core.errors import InputError, UsageError
from karat.models.nli import CLASSES, NliModel

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*SPECIAL, "oil", "is", "black", "snow", "white", "what", "and", "cold", "wet", ".", "?"]
LABELS = {0: "contradiction", 1: "entailment", 2: "neutral"}


def random_nli(folder, labels=LABELS):
    """Saves a random-weight model of three classes, untrained, in a folder."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=24, initializer_range=0.9, num_labels=len(labels), id2label=labels,
        label2id={name: number for number, name in labels.items()},
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    BertTokenizerFast(vocab=vocabulary, model_max_length=24).save_pretrained(folder)
    logging.enable_progress_bar()
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return random_nli(tmp_path_factory.mktemp("random-untrained-nli"))


PAIRS = [
    (premise, claim) for premise in ("oil is black", "snow is white", "wet oil") for claim in ("oil", "snow is cold")
]


@pytest.mark.sbert
def test_classes_are_those_of_the_config_and_the_same_again_in_any_batch(folder):
    import torch

    first = NliModel(folder).classify(PAIRS)
    again = NliModel(str(folder), batch=1).classify(PAIRS)
    assert first.labels == again.labels
    assert set(first.labels) == set(CLASSES)
    assert first.shares == pytest.approx(again.shares, abs=1e-5)
    assert all(1 / 3 <= share <= 1 for share in first.shares)
    model = NliModel(folder)
    (logits,) = model._model.predict([PAIRS[0]], convert_to_numpy=True, activation_fn=torch.nn.Identity())
    assert first.labels[0] == LABELS[int(logits.argmax())]


@pytest.mark.sbert
def test_what_the_model_does_not_read_is_counted_and_nothing_is_classified_of_nothing(folder):
    model = NliModel(folder)
    assert model.classify([("oil " * 40, "snow"), ("oil", "snow")]).cut == 1
    assert model.classify([]).labels == []


@pytest.mark.sbert
def test_the_digest_is_of_weights_and_config(folder, tmp_path):
    other = random_nli(tmp_path / "other", {0: "neutral", 1: "entailment", 2: "contradiction"})
    assert NliModel(folder).digest == NliModel(folder).digest != NliModel(other).digest


@pytest.mark.sbert
def test_scores_end_to_end_by_a_random_untrained_model(folder, tmp_path, monkeypatch):
    from karat import score

    testset = [{"id": "q1", "question": "what is oil?", "answers": ["Oil is black. Oil is wet."]}]
    results = [{"id": "q1", "answer": "Oil is black. Snow is white.", "contexts": ["oil is black and cold", ""]}]
    report = score(
        testset, results, measures=["ClaimF1", "ContextClaimRecall", "Faithfulness(by=claims)"],
        claims={"judge": f"nli:{folder}", "folder": str(tmp_path)},
    )  # fmt: skip
    import polars as pl

    rows = pl.read_parquet(tmp_path / "claims.parquet").filter(pl.col("verdict").is_not_null())
    assert set(rows["judge"]) == {f"nli:{folder.name} {NliModel(folder).digest}", ""}  # a blank passage has no judge
    assert rows.height == 2 + 2 + 2 * 2 * 2
    assert any("verdicts by nli:" in note.text for note in report.evaluation.notes)
    again = score(
        testset, results, measures=["ClaimF1"], claims={"judge": f"nli:{folder}", "folder": str(tmp_path)}
    )  # fmt: skip
    assert any("(4 known before)" in note.text for note in again.evaluation.notes)


def a_folder(tmp_path, labels, weights="model.safetensors"):
    (tmp_path / "config.json").write_text(json.dumps({"id2label": labels}))
    (tmp_path / weights).write_bytes(b"x")
    return tmp_path


@pytest.mark.parametrize(
    "labels",
    [None, {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}, {"0": "entailment", "1": "not_entailment"},
     {"0": "entailment", "1": "neutral", "2": "neutral"}, ["entailment"], {"a": "entailment", "b": "neutral"}],
)  # fmt: skip
def test_a_model_that_does_not_name_its_three_classes_is_refused(tmp_path, labels):
    with pytest.raises(InputError, match=r"is no NLI model: its config\.json has to name"):
        NliModel(a_folder(tmp_path, labels))


def test_a_pickle_and_a_folder_that_is_not_there_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"no \.safetensors weights"):
        NliModel(a_folder(tmp_path, LABELS, "pytorch_model.bin"))
    with pytest.raises(InputError, match="does not exist"):
        NliModel(tmp_path / "nowhere")


def test_without_sentence_transformers_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UsageError, match=r"pip install 'karat\[sbert\]'"):
        NliModel(a_folder(tmp_path, LABELS)).classify([("a", "b")])
