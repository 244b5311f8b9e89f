from karat.core.text.words import causes, in_words, names, percent


def test_reasons_that_differ_in_numbers_ids_and_quotes_are_one_cause():
    reasons = {
        "q1": "ReadTimeout after 30.2 s for request 7f3a9c1e-0b1d-4a52-9a3b-1c2d3e4f5a6b",
        "q2": "ReadTimeout after 31 s for request 11111111-0b1d-4a52-9a3b-1c2d3e4f5a6b",
        "q3": "KeyError: 'doc_q3'",
        "q4": "ReadTimeout  after 4 s for request 22222222-0b1d-4a52-9a3b-1c2d3e4f5a6b.",
        "q5": "KeyError: 'doc_q5'",
    }
    timeout, key = causes(reasons)
    assert (timeout.count, timeout.first, timeout.reason) == (3, "q1", reasons["q1"])
    assert (key.count, key.first) == (2, "q3")


def test_the_questions_own_id_does_not_set_reasons_apart():
    assert [c.count for c in causes({"alpha": "no route for alpha", "beta": "no route for beta"})] == [2]


def test_status_codes_are_causes_of_their_own():
    found = causes({"a": "HTTP 500: oops", "b": "HTTP 404: oops", "c": "HTTP 500: oops", "d": "status 404"})
    assert [(c.count, c.first) for c in found] == [(2, "a"), (1, "b"), (1, "d")]


def test_the_commonest_stand_first_and_the_rest_are_counted():
    reasons = {f"q{i}": "timed out" for i in range(3)} | {"x": "no reply."} | {f"e{c}": f"error {c * 3}" for c in "abc"}
    assert in_words(reasons) == (
        "timed out (3 times, first q0); no reply (x); error aaa (ea); 2 more reasons (2 times)"
    )
    assert in_words({"q1": ""}) == "no reason given (q1)"
    assert in_words({}) == ""


def test_a_share_rounds_to_nothing_or_all_only_when_it_is():
    assert [percent(share, 0) for share in (0, 1e-9, 0.005, 0.5, 0.995, 1)] == [
        "0%",
        "<1%",
        "<1%",
        "50%",
        ">99%",
        "100%",
    ]
    assert [percent(share) for share in (1e-9, 0.005, 0.9994, 0.9996)] == ["<0.1%", "0.5%", "99.9%", ">99.9%"]
    assert [percent(share) for share in (-0.25, 1.5, float("nan"))] == ["-25.0%", "150.0%", "–"]


def test_names_are_cleaned_cut_and_counted():
    assert names(["a\x1b[31mb", "c" * 50]) == "ab, " + "c" * 39 + "…"
    assert names(["c" * 50], width=None) == "c" * 50
    assert names(["a"], conjunction="or") == "a"
    assert names(["a", "b"], conjunction="or") == "a or b"
    assert names(list("abcde"), conjunction="or") == "a, b, c, d and 1 more"
    assert names([]) == ""
