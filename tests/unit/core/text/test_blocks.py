import pytest

from karat.core.text import drop_blocks, normalise, open_blocks


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>x\ny</think>Paris", "Paris"),
        ("<THINK>x</Think> Paris <source id='2'>doc</source>!", "Paris !"),
        ("Paris<source>a</source>Lyon", "Paris Lyon"),
        ("a <think>b <think>c</think> d</think> e", "a e"),
        ("<think>mentions <think> once</think> e", "e"),
        ("Paris <think>or was it", "Paris"),  # cut off while thinking
        ("well, so</think>Paris", "Paris"),  # opened in the prompt
        ("Paris <source>unclosed", "Paris <source>unclosed"),
        ("<source>a <source>b</source> c", "c"),
        ("1 < 2 <thinking> <source/>", "1 < 2 <thinking> <source/>"),
        ("", ""),
    ],
)
def test_blocks_are_dropped(text, left):
    assert drop_blocks(text).split() == left.split()


def test_only_squad_drops_blocks():
    assert normalise("<think>x</think>The answer") == "answer"
    assert normalise("<think>x</think>The answer", "plain") == "<think>x</think>the answer"


def test_contexts_keep_what_their_blocks_hold():
    assert open_blocks("<source>Paris</source> is").split() == ["Paris", "is"]
