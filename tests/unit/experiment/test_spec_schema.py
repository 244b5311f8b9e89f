"""The JSON Schema of karat.yaml: shipped as it is made, right about what is right, and every key documented."""

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from karat.experiment.spec import json_schema, spec_of
from karat.experiment.spec._yaml import loads_yaml

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "how-to" / "describe-an-experiment.md").read_text(encoding="utf-8")
SHIPPED = (files("karat.experiment.spec") / "karat.schema.json").read_text(encoding="utf-8")
SCHEMA = json.loads(SHIPPED)


def keys_of(schema):
    """Every key of the schema: where it stands, its name and what is said of it."""
    for home, part in (("karat.yaml", schema), *schema["$defs"].items()):
        for name, said in part["properties"].items():
            yield home, name, said


def test_the_shipped_schema_is_the_one_the_models_make():
    """After a change of the models: write json_schema() there again, as json.dumps with indent=1."""
    assert json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n" == SHIPPED


def test_it_is_a_schema_that_refuses_unknown_keys():
    Draft202012Validator.check_schema(SCHEMA)
    parts = [SCHEMA, *SCHEMA["$defs"].values()]
    assert all(part["additionalProperties"] is False for part in parts)
    assert len(parts) >= 8


def test_every_key_is_described():
    keys = list(keys_of(SCHEMA))
    assert len(keys) > 60
    assert [key for key in keys if "description" not in key[2]] == []


def errors(text):
    return list(Draft202012Validator(SCHEMA).iter_errors(loads_yaml(text, "y").values))


EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.M | re.S)


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_of_the_page_are_right_by_schema_and_by_karat(text):
    assert errors(text) == []
    spec_of(text)


@pytest.mark.parametrize(
    "more",
    [
        "systems: [rrf, {preset: rrf, name: x}, {engine: bm25}, {call: 'a:b'}, {results: r}]\n",
        "systems: [rrf]\nk: 5\nchunk: page\nembedder: {name: wordllama}\nmeasures: MRR\nwhere: {a: 1, b: [x]}\n",
        "sweep: {alpha: 0:1:0.1, k: [3, 5], fusion: rrf}\nembedder: [wordllama, {name: sbert}]\n",
    ],
)
def test_what_karat_takes_the_schema_takes(more):
    assert errors("testset: q\ncorpus: c\n" + more) == []


@pytest.mark.parametrize(
    "more",
    [
        "systems: [{engine: bm25, alpah: 1}]\n",
        "systems: [{preset: rrf, call: 'a:b'}]\n",
        "systems: [{engine: hybrid, alpha: 2}]\n",
        "systms: [rrf]\n",
        "k: 0\n",
        "outputs: [pdf]\n",
        "titles: 3\n",
        "model: {name: m, price_in_usd: 1, price_out_usd: 1, price_batch: 50}\n",
    ],
)
def test_what_the_schema_refuses(more):
    assert errors("testset: q\n" + more)
