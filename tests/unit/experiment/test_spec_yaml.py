"""YAML as karat.yaml uses it: values and lines, and what is refused."""

import pytest

from karat.core.errors import InputError
from karat.experiment.spec._yaml import LARGEST, load_yaml, loads_yaml


def test_values_are_those_of_yaml_1_2():
    text = "a: 0:1:0.1\nb: yes\nc: [1, -2.5, .5, 1e3, true, ~, null, 010, 2024-01-01, 1_000]\nd: on\n3: x\ne:\n"
    assert loads_yaml(text, "y").values == {
        "a": "0:1:0.1", "b": "yes", "c": [1, -2.5, 0.5, 1000.0, True, None, None, 10, "2024-01-01", "1_000"],
        "d": "on", "3": "x", "e": None,
    }  # fmt: skip


def test_every_value_knows_its_line():
    loaded = loads_yaml("a: 1\nb:\n  - x\n  - c: 2\n    d: 3\n", "y")
    assert loaded.line(("b", 1, "d")) == 5
    assert loaded.line(("b", 1, "nothing")) == 4
    assert loaded.line(("a",)) == 1


def test_aliases_and_merges_are_unfolded():
    text = "a: &a {p: 1, q: 2}\nb: {<<: *a, q: 3}\nc: *a\nd: {<<: [{r: 1}, *a]}\n"
    values = loads_yaml(text, "y").values
    assert values["b"] == {"p": 1, "q": 3}
    assert values["c"] == {"p": 1, "q": 2}
    assert values["d"] == {"r": 1, "p": 1, "q": 2}
    values["c"]["p"] = 9
    assert values["a"]["p"] == 1


LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LAUGHS, "unfolds to more than an experiment can need"),
        ("a: &a [*a]\n", "line 1: unfolds to more than"),
        ("a: &a {<<: *a}\n", "line 1: unfolds to more than"),
        ("[" * 100_000, "unfolds to more than"),
        ("a: " + "[" * 60 + "]" * 60, "unfolds to more than"),
        ("x: !!python/object/apply:os.system ['echo']\n", "line 1: the tag '!!python/object/apply:os.system' is not"),
        ("x: !mine 3\n", "line 1: the tag '!mine' is not read"),
        ("x: !!binary aGk=\n", "line 1: the tag '!!binary' is not read"),
        ("a: 1\nb: 2\na: 3\n", "y line 3: the key 'a' stands here twice. Remove one; the first is on line 1."),
        ("a: {b: 1, b: 2}\n", "line 1: the key 'b' stands here twice"),
        ("? [a]\n: 1\n", "line 1: a key must be text"),
        ("a: {<<: 3}\n", "line 1: << needs a mapping"),
        ("a: 1\n\tb: 2\n", "y line 2: is no YAML: "),
        ("a: b: c\n", "y line 1: is no YAML: mapping values are not allowed here"),
        ("a: [1\nb: 2\n", "Check indentation, colons and quotes."),
        ("a: *\n", "Put a text with * in it into quotes."),
        ("a: *b\n", "is no YAML: found undefined alias 'b'"),
        ("a: 1\n---\nb: 2\n", "y line 2: is no YAML"),
        ("a: \x00\n", "is no YAML: it holds characters that cannot be"),
        ("a: !!int x\n", "line 1: 'x' cannot be read as int"),
        ("a: " + "9" * 5000, "line 1: '9999"),
    ],
)
def test_what_is_refused(text, said):
    with pytest.raises(InputError) as caught:
        loads_yaml(text, "y")
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: \xff\n", "karat.yaml line 1: is not UTF-8. Save it as UTF-8."),
        (b"a: 1\n# " + b"x" * LARGEST, "karat.yaml: is larger than 1 MB"),
    ],
)
def test_files_that_are_refused(tmp_path, content, said):
    path = tmp_path / "karat.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_yaml(path)
    assert str(caught.value).startswith(said)


def test_a_file_that_is_not_there_and_one_with_a_mark(tmp_path):
    with pytest.raises(InputError, match=r"karat.yaml: does not exist. Write one with `karat init DOCS TESTSET`"):
        load_yaml(tmp_path / "karat.yaml")
    with pytest.raises(InputError, match="is a folder"):
        load_yaml(tmp_path)
    (tmp_path / "karat.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\n")
    assert load_yaml(tmp_path / "karat.yaml").values == {"a": 1}
