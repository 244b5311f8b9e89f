"""The measure language by hand: what it reads, prints and refuses."""

import pytest

from karat.core.errors import UsageError
from karat.core.language import expand, load, parse, parse_all


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("ndcg@10", "nDCG@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_10", "nDCG@10"),
        ("NDCG_AT_10", "nDCG@10"),
        ("P_5", "Precision@5"),
        ("p(REL=2)@5", "Precision(rel=2)@5"),
        ("recall_at_5", "Recall@5"),
        ("R@5", "Recall@5"),
        ("hit_rate_at_3", "Hit@3"),
        ("Success@3", "Hit@3"),
        ("RR", "MRR"),
        ("recip_rank", "MRR"),
        ("AP@20", "MAP@20"),
        ("map_cut_20", "MAP@20"),
        ("f1_score", "F1"),
        ("Recall@800t", "Recall@800t"),
        ("Recall@800T", "Recall@800t"),
        ("nDCG(gain=linear)@10", "nDCG@10"),
        ("nDCG(gain=EXP)@10", "nDCG(gain=exp)@10"),
        ("nDCG(condensed)@10", "nDCG(condensed)@10"),
        ("nDCG(condensed=true, gain=exp)@10", "nDCG(gain=exp, condensed)@10"),
        ("nDCG(condensed=false)@10", "nDCG@10"),
        ("AQWV(n=100000, beta=40)@10", "AQWV(beta=40, n=100000)@10"),
        ("AQWV", "AQWV(beta=40)"),
        ("RBP(p=.8)", "RBP(p=0.8)"),
        ("RBP(p=0.123456789)", "RBP(p=0.123456789)"),
        ("rouge_l", "ROUGE-L"),
        ("rouge1", "ROUGE-1"),
        ("answer_f1", "TokenF1"),
        ("exact_match", "EM"),
        ("TokenF1( bag = set )", "TokenF1(bag=set)"),
        ("correct_docs_count", "Correct"),
        ("pct_records_with_all_refs", "AllGold"),
    ],
)
def test_reads_and_prints(written, printed):
    assert str(parse(written)) == printed


def test_parameters_that_differ_in_late_digits_are_different_measures():
    assert [str(m) for m in parse_all("RBP(p=0.8000001), RBP(p=0.8), RBP(p=0.80)")] == [
        "RBP(p=0.8000001)",
        "RBP(p=0.8)",
    ]


def test_braces_and_commas():
    assert expand("Recall@{1,3}, {P,R}@{1,2}, nDCG(gain=exp)@5") == [
        "Recall@1",
        "Recall@3",
        "P@1",
        "P@2",
        "R@1",
        "R@2",
        "nDCG(gain=exp)@5",
    ]
    assert [str(m) for m in parse_all(["P@5", "precision@5", "P_5"])] == ["Precision@5"]


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("Recal@5", "Did you mean Recall?"),
        ("Recall@0", "the cut '0' is neither a rank"),
        ("Recall@ten", "the cut 'ten'"),
        ("Recall@99999999999", "the cut '99999999999'"),
        ("Recall@k", "which k?"),
        ("bpref@10", "bpref takes no cut"),
        ("EM@5", "EM takes no cut"),
        ("P(rel=0)@5", "rel=0 would call"),
        ("P(rel=1.5)@5", "rel=1.5 is not a whole number"),
        ("P(rell=2)@5", "Did you mean rel?"),
        ("EM(rel=2)", "EM has no parameter 'rel'"),
        ("nDCG(gain=cubic)@5", "gain=cubic is not one of linear, exp, binary"),
        ("RBP(p=nan)", "p=nan is not a number"),
        ("RBP(p=x)", "p=x is not a number"),
        ("nDCG(condensed=maybe)@5", "condensed=maybe is not true or false"),
        ("nDCG@5@6", "cannot read the measure"),
        ("nDCG(gain=exp@5", "cannot read the measure"),
        ("Recall@{}", "nothing (or too much) stands between the braces"),
        ("", "no measure was named"),
        (" , ", "no measure was named"),
    ],
)
def test_refuses_with_a_reason(written, sentence):
    with pytest.raises(UsageError) as error:
        parse_all(written)
    assert sentence in str(error.value)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    return write


def test_loads_a_function_of_a_file_in_this_folder(here):
    here("mine.py", "def brevity(answer, *, per: int = 2):\n    'Short.'\n    return len(answer) / per\n")
    found = parse("mine:brevity(per=4)", load_code=True)
    assert str(found) == "brevity(per=4)"
    assert found.params == {"per": 4}
    assert parse("mine.py:brevity", load_code=True).spec.summary == "Short."
    here("deep/inner.py", "def f(answer): return 1\n")
    assert str(parse("deep.inner:f", load_code=True)) == str(parse("deep/inner:f", load_code=True)) == "f"


def test_nothing_is_loaded_unless_the_user_names_it(here):
    here("mine.py", "raise SystemExit\n")
    for text in ("mine:brevity", "mine.py:brevity(per=4)@5", "os:system"):
        with pytest.raises(UsageError, match="is not a registered measure"):
            parse(text)
        with pytest.raises(UsageError, match="not a registered measure"):
            parse_all([text])


def test_a_function_under_a_built_in_name_keeps_its_file(here):
    here("mine.py", "def recall(answer): return 1\n")
    assert str(parse("mine:recall", load_code=True)) == "mine:recall"


def test_the_same_name_of_two_files_is_refused_not_dropped(here):
    here("one.py", "def f(answer): return 1\n")
    here("two.py", "def f(answer): return 2\n")
    assert len(parse_all(["one:f", "one:f"], load_code=True)) == 1
    with pytest.raises(UsageError, match="two measures are called 'f', one of one and one of two"):
        parse_all(["one:f", "two:f"], load_code=True)


@pytest.mark.parametrize(
    ("text", "name", "sentence"),
    [
        ("def polite(answer): return 1\n", "mine:polit", "mine has no function 'polit'. Did you mean polite?"),
        ("f = 3\n", "mine:f", "mine has no function 'f'"),
        ("import not_installed\n", "mine:f", "No module named 'not_installed'"),
        ("1 / 0\n", "mine:f", "ZeroDivisionError"),
        ("import sys\nsys.exit()\n", "mine:f", "SystemExit"),
        ("def f(:\n", "mine:f", "SyntaxError"),
        ("def f(weather): return 1\n", "mine:f", "takes 'weather', which karat cannot supply"),
        ("def f(): return 1\n", "mine:f", "takes no arguments"),
        ("def f(answer, *, p): return 1\n", "mine:f", "needs a default for its parameter 'p'"),
        ("", "nowhere:f", "No module named 'nowhere'"),
    ],
)
def test_a_file_that_cannot_be_loaded_says_why(here, text, name, sentence):
    here("mine.py", text)
    with pytest.raises(UsageError) as error:
        load(name)
    assert sentence in str(error.value)
