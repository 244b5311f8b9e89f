"""A choice in words."""

import numpy as np

from karat.diagnose.decisions import choice_sentences, in_words
from karat.stats.choose import cells_of, choose

NAN = np.nan


def chosen(values, kinds=None, **more):
    values = np.array(values, float)
    cells = cells_of([(f"s{i}", "F1@5", 5) for i in range(len(values))], values)
    choice = choose("F1", cells, values, kinds=kinds, **more)
    return choice, choice_sentences(choice)


def studied(cells=8, questions=40, step=0.02):
    rng = np.random.default_rng(0)
    return rng.random(questions) + rng.normal(0, 0.1, (cells, questions)) + step * np.arange(cells)[:, None]


def test_never_best_without_interval_and_equals():
    found, (first, *_) = chosen(studied())
    mean, low, high = (f"{x:.2f}".removeprefix("0") for x in (found.best.mean, found.best.low, found.best.high))
    assert first.startswith(f"s7 has the highest F1 ({mean} [{low}, {high}], 40 questions); ")
    assert f"{len(found.equals)} of 7 others do not differ significantly from it: s5, s6" in first


def test_ties_and_the_lowest():
    _, (first, *_) = chosen([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.2, 0.2]])
    assert "s0 ties with s1, s2 for the highest F1" in first
    assert "none of the 2 others differs significantly from it" in first
    _, (first, *_) = chosen(np.full((3, 10), 0.4))
    assert first.startswith("s0 ties with s1, s2 for the highest F1 (.40 [.17, .69], 10 questions); ")
    assert "lowest F1" in chosen(-studied(), higher_is_better=False)[1][0]


def test_a_clear_winner_is_not_flattered():
    values = np.random.default_rng(0).random((5, 30)) * 0.1
    values[2] += 0.8
    _, (first, second, *_) = chosen(values)
    assert first.endswith("; significantly better than all 4 others.")
    assert second.startswith("No measurable selection bias: expect about .8")
    assert chosen(values[1:3])[1][0].endswith("; significantly better than the other.")


def test_kinds_with_another_best_and_kinds_that_say_too_little():
    values = np.zeros((3, 30))
    values[0] = 0.5
    values[1, :12] = 1.0
    values[2, 12:27] = 0.6
    noise = np.random.default_rng(0).normal(0, 0.02, values.shape)
    _, sentences = chosen(values + noise, ["a"] * 12 + ["b"] * 15 + ["c"] * 2 + [None])
    assert sentences[-1].endswith("nothing is chosen: c (2).")
    better = "better for some question types: a (s1, 12 questions), b (s2, 15 questions)"
    assert any(better in sentence for sentence in sentences)
    _, sentences = chosen(np.vstack([np.ones(12), *np.zeros((9, 12))]), ["a"] * 6 + ["b"] * 6)
    few = "Too few questions to show any difference between 10 systems: a (6), b (6)"
    assert any(few in sentence for sentence in sentences)


def test_one_cell_and_one_question():
    _, sentences = chosen(studied(cells=1))
    assert len(sentences) == 1
    assert "nothing to choose" in sentences[0]
    _, sentences = chosen([[0.2], [0.9]])
    assert "(.900, 1 question); the other does not differ significantly from it." in sentences[0]
    assert "too few questions" in sentences[1]
    assert "Too few questions to show any difference between 2 systems." in sentences


def test_a_barred_cell_is_named_and_why():
    values = studied()
    values[3] = values[0] = NAN
    values[3, 0] = 99.0
    _, sentences = chosen(values)
    assert sentences[-1] == "Not considered, since more than a tenth of the questions have no value: s0."
    values = np.random.default_rng(1).random((3, 80)) * 0.2
    values[1] += 0.4
    values[1, :20] = NAN
    found, (first, *_) = chosen(values)
    ahead = f"s1 is ahead of it by {-found.ahead[0].difference:.3f}".replace("0.", ".", 1)
    assert f"{ahead} on the 60 questions that both have (p < .001), but is barred from being best" in first
    assert "20 of 80 questions have no value, more than a tenth." in first
    assert "of those with a value on nine tenths of the questions" in first
    values = studied(cells=2, step=0)
    values[0, 5:] = NAN
    values[0, :5] = values[1, :5] + 0.01
    assert "(not significant, p .0" in chosen(values)[1][0]


def test_what_to_expect_has_an_interval_and_two_digits():
    found, sentences = chosen(studied())
    mean, low, high = found.cross_validated, found.expected_low, found.expected_high
    expected = f"expect about {mean:.2f} [{low:.2f}, {high:.2f}] on new questions.".replace("0.", ".")
    assert sentences[1].endswith(expected)
    assert in_words(found).sentences == sentences
    assert in_words(None) is None
