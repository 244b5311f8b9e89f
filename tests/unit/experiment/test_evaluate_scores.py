"""Any system as it is: the scores are those of the same hits in a file, however they are named, listed and repeated."""

import time
from types import SimpleNamespace as Made

import pytest

import karat


def test_hits_under_a_name_that_nobody_knows_are_found_and_said():
    def rag(text):
        return {"answer": "so", "sources": [{"doc": "a.md", "page": 2}]}

    questions = [{"id": "q", "question": "where?", "gold": [{"doc": "a.md"}]}]
    report = karat.evaluate(questions, rag)
    assert report.mean("Recall@5") == 1
    assert "read hits from sources" in report.evaluation.taken[1].notes[0]

    def two(text):
        return {"answer": "so", "sources": [{"doc": "a.md"}], "tools": [{"id": "t"}]}

    report = karat.evaluate([{**questions[0], "answers": ["so"]}], two)
    assert any(
        "sources, tools names other hits and was left aside" in note for note in report.evaluation.taken[1].notes
    )


def test_systems_that_keep_files_in_other_folders_score_as_they_do_alone():
    questions = [{"id": f"q{i}", "question": f"w{i}", "gold": [{"doc": f"x{i}.pdf", "page": 1}]} for i in range(4)]

    def over(root):
        return lambda text: [{"doc": f"{root}x{(int(text[1:]) + j) % 4}.pdf", "page": 1} for j in (1, 0)]

    systems = {"absolute": over("/srv/kb/docs/"), "relative": over("docs/"), "bare": over("")}
    report = karat.evaluate(questions, systems, measures=["MRR"])
    alone = [karat.evaluate(questions, one, measures=["MRR"]).mean("MRR") for one in systems.values()]
    assert [report.mean("MRR", system) for system in systems] == alone == [0.5] * 3


def test_a_gate_that_fails_is_false():
    report = karat.evaluate([{"id": "q", "question": "where?", "gold": ["a"]}], lambda text: ["b", "a"])
    assert karat.gate(report, "MRR >= 0.5")
    assert not karat.gate(report, "MRR >= 0.9")


def test_lists_beyond_k_count_for_measures_without_a_cut_off():
    questions = [{"id": "q", "question": "where?", "gold": ["a"]}]
    hits = [*(f"x{n}" for n in range(6)), "a"]
    asked = []

    def search(text, k):
        asked.append(k)
        return hits

    report = karat.evaluate(questions, search, k=5)
    scored = karat.score(questions, {"search": {"q": hits}}, k=5)
    assert asked == [5]
    assert report.mean("MRR") == scored.mean("MRR") == 1 / 7
    assert report.mean("MAP") == scored.mean("MAP")
    assert karat.evaluate(questions, lambda text: tuple(hits), k=5).mean("MRR") == 1 / 7


def test_a_dict_by_questions_is_results_whatever_its_values_look_like():
    questions = [{"id": f"q{n}", "question": f"w{n}", "answers": ["fuel"]} for n in range(2)]
    answers = {"q0": "http://127.0.0.1:9/never-asked", "q1": "fuel"}
    assert karat.evaluate(questions, answers, measures=["EM"]).mean("EM") == 0.5


def test_chunk_numbers_count_within_their_document():
    questions = [{"id": f"q{n}", "question": f"{n}", "gold": [{"doc": f"a{n}.pdf", "chunk": "0"}]} for n in range(3)]

    def hit(text, doc):
        return {"id": f"{doc}-{text}", "doc": f"{doc}{text}.pdf", "chunk": 0}

    report = karat.evaluate(questions, lambda text: [hit(text, "z"), hit(text, "a")])
    assert report.mean("MRR") == 0.5
    wrong = {"right": lambda text: [hit(text, "a")], "wrong": lambda text: [hit(text, "z")]}
    with pytest.raises(karat.KaratError, match="none of the gold is among the hits of 'wrong'"):
        karat.evaluate(questions, wrong, matching="chunk")


def test_repeats_without_a_value_are_said_and_spread_nothing():
    calls = []

    def search(text):
        calls.append(text)
        return {"retrieved": ["a"], **({"answer": "yes"} if len(calls) <= 2 else {})}

    questions = [{"id": f"q{n}", "question": f"w{n}", "gold": ["a"], "answers": ["yes"]} for n in range(2)]
    report = karat.evaluate(questions, search, measures=["EM", "Recall@5"], repeat=2)
    assert report.mean("EM") == 1
    assert any("2 questions of 2 lack a value in some repeats" in note for note in report.notes)
    assert not any("Standard deviation" in note for note in report.notes)


def test_limits_of_asking_reach_a_system_that_leaves_them_open():
    slow = karat.system(lambda text: time.sleep(2) or ["a"])
    report = karat.evaluate([{"id": "q", "question": "w", "gold": ["a"]}], slow, asking={"timeout_seconds": 0.2})
    assert report.n_failed == 1
    for wrong in ({"timeout_seconds": -1}, {"timeout_seconds": "3"}, {"jobs": 0}, {"hits": ["a"]}):
        with pytest.raises(karat.KaratError):
            karat.system(slow, **wrong)
    with pytest.raises(karat.KaratError, match="k='5'"):
        karat.evaluate([], slow, k="5")


def test_columns_reach_documents_in_pairs():
    document = Made(id=None, page_content="t", metadata={"pk": "a"})
    report = karat.evaluate(
        [{"id": "q", "question": "w", "gold": ["a"]}], lambda text: [(document, 0.3)], columns={"pk": "id"}
    )
    assert report.mean("MRR") == 1
