"""The embedder `onnx` on tiny models made here: a table of vectors, no trained weights."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from karat.core.errors import InputError, KaratError, UsageError
from karat.models import EmbedderSettings, embedder_named

WORDS = ["[PAD]", "[UNK]", "[CLS]", "night", "watch", "guard", "dusk", "cake", "sugar", "bake"]
TABLE = np.array(
    [[9, 9, 9], [0, 0, 0], [0, 0, 1], [4, 0, 0], [3, 1, 0], [3, 0, 1], [4, 1, 1], [0, 4, 0], [0, 3, 0], [1, 4, 0]],
    np.float32,
)


def write_tokenizer(folder, *, first_token=False, **kept):
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    if first_token:
        made.post_processor = processors.TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 2)])
    if "length" in kept:
        made.enable_truncation(kept["length"])
    made.save(str(folder / "tokenizer.json"))


def write_model(folder, *, output="last_hidden_state", inputs=("input_ids", "attention_mask"), kind=TensorProto.INT64):
    """A look-up in TABLE; with the output `sentence_embedding`, its maximum over the tokens."""
    given = [helper.make_tensor_value_info(name, kind, ["texts", "tokens"]) for name in inputs]
    nodes = [helper.make_node("Gather", ["table", inputs[0]], ["tokens"])]
    if output == "sentence_embedding":
        nodes.append(helper.make_node("ReduceMax", ["tokens", "axes"], [output], keepdims=0))
        shape = ["texts", 3]
    else:
        nodes.append(helper.make_node("Identity", ["tokens"], [output]))
        shape = ["texts", "tokens", 3]
    made = helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)
    known = [numpy_helper.from_array(TABLE, "table"), numpy_helper.from_array(np.array([1]), "axes")]
    graph = helper.make_graph(nodes, "tiny", given, [made], known)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "model.onnx")


def embedder_of(folder, **more):
    return embedder_named(EmbedderSettings("onnx", str(folder), **more))


def unit(*numbers):
    return pytest.approx(np.array(numbers) / np.linalg.norm(numbers), abs=1e-6)


@pytest.fixture
def folder(tmp_path):
    write_tokenizer(tmp_path)
    write_model(tmp_path)
    return tmp_path


def test_the_mean_of_the_tokens_without_the_padding(folder):
    made = embedder_of(folder).embed(["night watch", "cake", "night watch guard cake"], "passage")
    assert made.dtype == np.float32
    assert made[0] == unit(3.5, 0.5, 0)
    assert made[1] == unit(0, 1, 0)
    assert made[2] == unit(10 / 4, 5 / 4, 1 / 4)


def test_a_paraphrase_is_nearer_than_another_subject(folder):
    watch, paraphrase, other = embedder_of(folder).embed(["night watch", "guard dusk", "bake sugar cake"], "query")
    assert watch @ paraphrase > watch @ other + 0.5


def test_batches_of_any_size_give_the_same(folder):
    texts = [" ".join(WORDS[3 + (n + i) % 7] for i in range(n % 9 + 1)) for n in range(100)]
    embedder = embedder_of(folder)
    together = embedder.embed(texts, "passage")
    assert together == pytest.approx(np.concatenate([embedder.embed([text], "passage") for text in texts]), abs=1e-6)


def test_a_sentence_embedding_is_taken_as_it_is(folder):
    write_model(folder, output="sentence_embedding")
    assert embedder_of(folder).embed(["night guard"], "query")[0] == unit(4, 0, 1)


def test_whole_numbers_of_32_bits_and_token_types(folder):
    names = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
    write_model(folder, inputs=names, kind=TensorProto.INT32)
    assert embedder_of(folder).embed(["cake"], "query")[0] == unit(0, 1, 0)


def test_the_first_token_where_the_pooling_says_so(folder):
    write_tokenizer(folder, first_token=True)
    (folder / "1_Pooling").mkdir()
    for mode in ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, {"pooling_mode": "cls"}):
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(mode))
        assert embedder_of(folder).embed(["night cake", "night"], "query") == pytest.approx(np.array([[0, 0, 1]] * 2))
    for mode in ({"pooling_mode_mean_tokens": True}, {"pooling_mode": "mean"}):
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(mode))
        assert embedder_of(folder).embed(["night"], "query")[0] == unit(4, 0, 1)
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_max_tokens": true}')
    with pytest.raises(InputError, match="asks for pooling_mode_max_tokens; karat pools by mean or by first token"):
        embedder_of(folder)


def test_a_long_text_is_cut_where_the_model_ends(folder):
    text = "night " * 600 + "cake " * 600
    assert embedder_of(folder).embed([text], "query")[0] == unit(1, 0, 0)
    (folder / "config.json").write_text('{"max_position_embeddings": 2}')
    assert embedder_of(folder).embed(["night night cake"], "query")[0] == unit(1, 0, 0)
    write_tokenizer(folder, length=1)
    assert embedder_of(folder).embed(["night cake"], "query")[0] == unit(1, 0, 0)


def test_the_fingerprint_follows_the_files_and_not_the_place(folder, tmp_path_factory):
    before = embedder_of(folder).fingerprint
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for file in ("model.onnx", "tokenizer.json"):
        (elsewhere / file).write_bytes((folder / file).read_bytes())
    (elsewhere / "README.md").write_text("words")
    assert embedder_of(elsewhere).fingerprint == before
    write_model(elsewhere, output="sentence_embedding")
    assert embedder_of(elsewhere).fingerprint != before


def test_a_folder_that_is_no_model(folder, tmp_path):
    with pytest.raises(UsageError, match="the embedder onnx needs a folder: write onnx:FOLDER"):
        embedder_named(EmbedderSettings("onnx"))
    with pytest.raises(UsageError, match=r"nowhere is not a folder. karat never downloads a model"):
        embedder_of(tmp_path / "nowhere")
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(InputError, match=r"model.onnx: cannot be read as an ONNX model"):
        embedder_of(folder)
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"tokenizer.json: cannot be read as a tokenizer"):
        embedder_of(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(UsageError, match=r"holds no tokenizer.json"):
        embedder_of(folder)


def test_settings_that_are_no_json(folder):
    (folder / "config.json").write_text("[1]")
    with pytest.raises(InputError, match=r"config.json: cannot be read as JSON settings"):
        embedder_of(folder)


def test_a_model_that_takes_something_else(folder):
    write_model(folder, inputs=("input_ids", "pixel_values"))
    with pytest.raises(InputError, match="the model takes input_ids, pixel_values; karat gives"):
        embedder_of(folder)


def test_a_model_that_fails_on_a_text(folder):
    made = Tokenizer(models.WordLevel({"[UNK]": 0, "night": 99}, unk_token="[UNK]"))
    made.save(str(folder / "tokenizer.json"))
    with pytest.raises(KaratError, match=r"model.onnx: failed on 1 text: .*out of"):
        embedder_of(folder).embed(["night"], "query")


def test_a_model_without_a_vector_for_each_token(folder):
    graph = helper.make_graph(
        [helper.make_node("Identity", ["input_ids"], ["same"])],
        "tiny",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])],
        [helper.make_tensor_value_info("same", TensorProto.INT64, ["texts", "tokens"])],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "model.onnx")
    with pytest.raises(InputError, match=r"no output of the model is a vector for each text or token: same \(1, 2\)"):
        embedder_of(folder).embed(["night cake"], "query")
