"""The walk from inputs to a report: what is chosen, refused and noted on the way."""

import pytest

import karat
from karat.core.errors import KaratError, NoOverlapError, UsageError
from karat.experiment._answered import answered_of, retrieved_texts
from karat.experiment.ranked_lists import ranked_ids
from karat.files import as_runs, as_testset

GOLD = {"a": {"x": 2, "y": 1, "n": 0}, "b": {"z": 1}}
RUN = {"a": {"n": 3.0, "x": 2.0, "q": 1.0}, "b": {"z": 1.0}}
QA = [
    {"id": "a", "question": "what?", "answers": ["two years"], "gold": ["x"]},
    {"id": "b", "question": "who?", "answers": ["me"], "gold": ["z"]},
]
RAG = [
    {"id": "a", "retrieved": [{"id": "x", "text": "two years"}], "answer": "two years", "seconds": {"answer": 2.0}},
    {"id": "b", "retrieved": [{"id": "z", "text": "nobody"}], "answer": "you", "seconds": {"answer": 4.0}},
]


def measures(**options):
    return karat.score(**options).measures


def test_the_default_set_follows_what_the_results_hold():
    ranked = measures(testset=GOLD, results=RUN)
    assert {f"{m}@{k}" for m in ("Precision", "Recall", "F1", "Hit", "MRR", "nDCG") for k in (1, 3, 5, 10, 20)} < set(
        ranked
    )
    assert set(ranked) - {m for m in ranked if "@" in m} == {"MRR", "MAP"}
    both = measures(testset=QA, results=RAG)
    assert {"EM", "TokenF1", "ROUGE-L", "SupportCoverage", "Recall@5"} < set(both)
    only = measures(testset=QA, results={"a": "two years", "b": "you"})
    assert set(only) == {"EM", "TokenF1", "ROUGE-L"}
    assert "Recall@7" in measures(testset=GOLD, results=RUN, k=7)
    assert "Recall@5" not in measures(testset=GOLD, results=RUN, k=7)


def test_rel_is_shown_in_the_names_it_changes():
    report = karat.score(GOLD, RUN, measures=["Recall@5", "nDCG@5"], matching={"rel": 2})
    assert report.measures == ("Recall(rel=2)@5", "nDCG@5")
    assert report.mean("Recall@5") == 1.0  # b has no unit of grade 2: undefined, not 0
    (row,) = report.summary.filter(report.summary["measure"] == "Recall(rel=2)@5").to_dicts()
    assert (row["n"], row["n_undefined"]) == (1, 1)


def test_the_ceiling_of_a_target_is_what_the_gold_allows():
    report = karat.score(GOLD, RUN, measures=["F1@5", "Hit@5", "MRR"], bands=True)
    ceilings = {t.measure: t.ceiling for t in report.evaluation.targets}
    # a: two units in five slots, P 2/5, R 1; b: one unit, P 1/5, R 1
    assert ceilings["F1@5"] == pytest.approx(((2 * 0.4 / 1.4) + (2 * 0.2 / 1.2)) / 2)
    assert (ceilings["Hit@5"], ceilings["MRR"]) == (1, 1)


@pytest.mark.parametrize(
    ("options", "banded", "targets"),
    [
        ({}, set(), 0),
        ({"dialect": "trec"}, set(), 0),
        ({"dialect": "hybrid-rag", "matching": "exact"}, {"MRR", "Recall@5"}, 0),
        ({"dialect": "healthcare", "matching": "exact"}, set(), 2),
        ({"bands": True}, {"MRR", "Recall@5"}, 2),
    ],
)
def test_bands_and_targets_are_shown_in_their_dialect_or_when_asked_for(options, banded, targets):
    report = karat.score(GOLD, RUN, measures=["F1@5", "MRR", "Recall@5"], **options)
    assert {s.measure for s in report.evaluation.summaries if s.band} == banded
    assert len(report.evaluation.targets) == targets
    words = ("band", "Band", "Excellent", "Good", "Moderate", "Fair", "Poor")
    for text in (str(report), report.to_markdown()):
        assert any(word in text for word in words) == bool(banded)
        assert ("Targets" in text) == bool(targets)


def test_usage_is_summed_up_where_it_is_known():
    report = karat.score(QA, {"rag": RAG}, measures="EM")
    (usage,) = report.evaluation.usage
    assert (usage.what, usage.n, usage.mean) == ("seconds answer", 2, 3.0)


def test_a_system_without_answers_beside_one_with_is_undefined_there():
    report = karat.score(QA, {"rag": RAG, "bm25": {"a": ["x"], "b": ["w"]}}, measures=["EM", "MRR"])
    assert report.mean("EM", system="bm25") is None
    assert report.mean("EM", system="rag") == 0.5
    reasons = report.per_query.filter(report.per_query["system"] == "bm25")["EM.reason"].to_list()
    assert reasons == ["the results hold no answers"] * 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"matching": {"rel": 0}}, "rel=0"),
        ({"k": 0}, "k=0"),
        ({"matching": {"repeats": "twice"}}, "repeats='twice'"),
        ({"matching": {"ties": "half"}}, "ties='half'"),
        ({"matching": "exactly"}, "unknown matcher 'exactly'. Did you mean exact?"),
        ({"dialect": "tre"}, "Did you mean trec?"),
        ({"measures": []}, None),
        ({"by": "kind"}, "no slice 'kind'"),
    ],
)
def test_what_cannot_be_is_refused(options, sentence):
    if sentence is None:
        assert karat.score(GOLD, RUN, **options).measures  # nothing named: the default set
        return
    with pytest.raises(UsageError) as error:
        karat.score(GOLD, RUN, **options)
    assert sentence in str(error.value)


def test_a_keyword_that_went_into_settings_says_what_to_write():
    for option, instead in (
        ({"match": "page"}, "matching={'match': 'page'}"),
        ({"rel": 2}, "matching={'rel': 2}"),
        ({"max_cost": 0.5}, "chat={'max_cost': 0.5}"),
    ):
        with pytest.raises(UsageError) as error:
            karat.score(GOLD, RUN, **option)
        assert str(error.value) == f"score() takes no {next(iter(option))}=. Write {instead}."
    with pytest.raises(UsageError, match=r"matching=\{'rel': 2\}"):
        karat.sweep(GOLD, "index", rel=2)
    with pytest.raises(UsageError, match=r"test=\{'correction': 'bh'\}"):
        karat.compare(correction="bh")
    with pytest.raises(UsageError, match=r"chat=\{'model': 'm'\}"):
        karat.generate("index", model="m")


def test_a_keyword_that_is_not_there_says_what_there_is():
    with pytest.raises(UsageError, match=r"score\(\) takes no intervals=\. Leave it out; there are testset, results"):
        karat.score(GOLD, RUN, intervals=False)
    with pytest.raises(UsageError, match=r"score\(\) takes no measure=\. Did you mean measures"):
        karat.score(GOLD, RUN, measure="MRR")
    with pytest.raises(UsageError, match=r"check\(\) takes no audit=\. Leave it out; there are testset, index"):
        karat.check(GOLD, audit=False)
    with pytest.raises(UsageError, match=r"score\(\) takes no matched=\. Did you mean matching"):
        karat.score(GOLD, RUN, matched="page")


def test_unknown_settings_are_refused_with_the_nearest():
    with pytest.raises(UsageError, match="has no 'repeat'"):
        karat.score(GOLD, RUN, matching={"repeat": "once"})
    with pytest.raises(UsageError, match="Did you mean max_cost"):
        karat.score(GOLD, RUN, chat={"model": "m", "max_costs": 1})


def test_options_are_checked_before_anything_is_read():
    with pytest.raises(UsageError, match="rel=0"):
        karat.score("not there", "not there either", matching={"rel": 0})


def test_two_systems_of_one_name_are_refused(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bm25.run").write_text("a Q0 x 1 1.0 t\n")
    with pytest.raises(UsageError, match="two systems are called 'bm25'"):
        karat.score(GOLD, [tmp_path / "one" / "bm25.run", tmp_path / "two" / "bm25.run"])


def test_no_overlap_of_one_system_of_several_is_refused():
    with pytest.raises(NoOverlapError, match="'bad'"):
        karat.score(GOLD, {"good": RUN, "bad": {"a": ["w"]}})
    allowed = karat.score(
        GOLD, {"good": RUN, "bad": {"a": ["w"]}}, measures="MRR", matching={"allow_zero_overlap": True}
    )
    assert allowed.mean("MRR", system="bad") == 0.0


def test_missing_and_further_questions_are_noted():
    report = karat.score(GOLD, {"s": {"a": ["x"], "other": ["x"]}}, measures="MRR")
    assert report.mean("MRR") == 0.5
    told = " ".join(report.notes)
    assert "1 of 2 questions" in told
    assert "1 question of the run that the test set lacks" in told


@pytest.mark.slow
def test_repeats_and_ties_reach_the_measures():
    lists = {"a": ["x", "x", "y"], "b": ["z"]}
    by = {r: karat.score(GOLD, lists, measures="P@3", matching={"repeats": r}).mean("P@3") for r in ("once", "count")}
    assert by == {"once": pytest.approx((2 / 3 + 1 / 3) / 2), "count": pytest.approx((1 + 1 / 3) / 2)}
    near = {"a": {"x": 1.0 + 1e-9, "zz": 1.0}, "b": {"z": 1.0}}
    by = {t: karat.score(GOLD, near, measures="MRR", matching={"ties": t}).mean("MRR") for t in ("float32", "double")}
    assert by == {"float32": 0.75, "double": 1.0}


def test_progress_tells_each_step_and_seeds_decide_intervals():
    said = []
    wide = {f"q{i}": {"x": 1} for i in range(12)}
    run = {q: ["x"] if i % 3 else ["w", "x"] for i, q in enumerate(wide)}
    one = karat.score(wide, run, measures="MRR", progress=said.append)
    assert len(said) >= 4
    assert all(said)
    again = karat.score(wide, run, measures="MRR")
    assert one.to_json() == again.to_json()
    assert one.summary["low"].to_list() != [None]


def test_contexts_are_those_used_else_the_texts_of_the_hits():
    testset, _ = as_testset(QA)
    runs, _ = as_runs({"rag": [{**RAG[0], "contexts": ["used"]}, RAG[1]]})
    answered = answered_of(testset, runs)
    assert answered.contexts == [("used",), ("nobody",)]
    assert list(answered.context_ids) == [(), tuple(hit["id"] for hit in RAG[1]["retrieved"])]
    used, _ = as_runs({"rag": [{**RAG[0], "contexts": ["used"], "context_ids": ["c7"]}, RAG[1]]})
    assert answered_of(testset, used).ids_of(0) == ("c7",)
    assert retrieved_texts(runs[0])["a"] == ("two years",)
    plain, _ = as_runs({"s": RUN})
    assert answered_of(as_testset(GOLD)[0], plain) is None
    assert retrieved_texts(plain[0]) == {}


def test_ranked_ids_stand_in_the_order_of_the_test_set():
    testset, _ = as_testset(GOLD)
    runs, _ = as_runs({"s": {"b": {"z": 1.0}, "a": {"n": 1.0, "x": 2.0}}})
    ranked = ranked_ids(testset, runs, "float32")
    assert (list(ranked), len(ranked)) == (["s"], 1)
    assert ranked["s"] == [["x", "n"], ["z"]]


def test_errors_of_the_walk_are_karat_errors():
    with pytest.raises(KaratError, match="nothing to compute by default"):
        karat.score(GOLD, {"a": "an answer", "b": "another"})
