"""Every kind of impossible table, planted in three shapes: each is named with its cause. And what is no fault."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

from karat.experiment.verify import verify


def put(folder: Path, name: str, content) -> Path:
    """A file of text, or of records as its ending says."""
    path = folder / name
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in content))
    elif path.suffix == ".json":
        path.write_text(json.dumps(content))
    else:
        out = StringIO()
        writer = csv.DictWriter(out, list(content[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(content)
        path.write_text(out.getvalue())
    return path


def causes(found, *verdicts):
    return {(f.name, f.cause) for f in found.figures if f.verdict in (verdicts or ("mismatch", "impossible"))}


F1_ABOVE = [
    ("t.csv", "system,P@5,R@5,F1@5\ndense,0.2500,0.3000,0.2745\n", {}, "F1@5"),
    (
        "t.md",
        "# Results\n\n| Method | precision_at_k | recall_at_k | f1_score |\n|---|--:|--:|--:|\n"
        "| **dense** | 24.87 | 31.56 | 28.15 |\n| bm25 | 20.10 | 30.00 | 22.00 |\n",
        {},
        "f1_score",
    ),
    ("t.json", {"results": {"dense": {"precision": 0.40, "recall": 0.80, "f1": 0.61}}}, {}, "f1"),
    ("u.csv", "system,k,precision_at_k,recall_at_k,f1_score\na,7,0.25,0.30,0.29\n", {"k": 5}, "f1_score"),
    ("u.tsv", "system\tPrecision@5\tRecall@5\tF1\ndense\t0.2500\t0.3000\t0.2745\n", {}, "F1"),
    (
        "v.csv",
        "system,measure,mean,n\na,Precision@7,0.2500,40\na,Recall@7,0.3000,40\na,F1@7,0.2745,40\n",
        {"k": 5},
        "F1@7",
    ),
]


@pytest.mark.parametrize(("name", "content", "options", "figure"), F1_ABOVE)
def test_mean_f1_above_the_harmonic_mean_of_its_parts(tmp_path, name, content, options, figure):
    assert causes(verify(put(tmp_path, name, content), **options)) == {(figure, "order")}


def test_mean_f1_at_the_harmonic_mean_up_to_rounding_can_be(tmp_path):
    for line in ("dense,0.25,0.30,0.28", "dense,0.2500,0.3000,0.2727", "dense,0.2500,0.3000,0.2728"):
        assert not verify(put(tmp_path, "t.csv", f"system,P@5,R@5,F1@5\n{line}\n")).broken, line


FALLING = [
    ("t.csv", "system,MRR@5,MRR@10\ndense,0.4310,0.4190\n", "MRR@10"),
    ("t.json", [{"metric": f"Hit@{k}", "value": v} for k, v in ((1, 0.31), (3, 0.52), (5, 0.49))], "Hit@5"),
    ("u.csv", "method,k,recall_at_k,mrr\ndense,3,0.512,0.41\ndense,5,0.497,0.42\nbm25,3,0.3,0.3\nbm25,5,0.4,0.3\n",
     "recall_at_k"),
    ("u.tsv", "top_k\thit_rate@k\n5\t61.2%\n10\t60.1%\n", "hit_rate@k"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "figure"), FALLING)
def test_what_can_only_grow_with_k_and_falls(tmp_path, name, content, figure):
    found = verify(put(tmp_path, name, content))
    assert causes(found) == {(figure, "order")}
    assert any("looking further down can only find more" in f.why for f in found.figures if f.broken)


def test_systems_that_differ_in_more_than_k_do_not_grow(tmp_path):
    table = put(tmp_path, "t.csv", "method,alpha,k,recall_at_k\na,0.3,3,0.5\na,0.7,5,0.4\nb,,3,0.6\n")
    assert not verify(table).broken


TOTALS = [
    ("t.csv", "query_type,n,MRR\nfactual,20,0.41\nsteps,30,0.52\nTotal,50,0.57\n", "MRR"),
    ("u.csv", "system,measure,slice,value,n,mean\na,Recall@5,,,50,0.35\na,Recall@5,kind,fact,20,0.41\n"
     "a,Recall@5,kind,steps,30,0.52\n", "Recall@5"),
    ("t.json", {"a": {"overall": {"mrr": 0.39}, "by_type": {"fact": {"mrr": 0.41}, "steps": {"mrr": 0.52}}}}, "mrr"),
    ("t.md", "| Kind | MAP |\n|---|---|\n| fact | .412 |\n| steps | .466 |\n| **Overall** | **.481** |\n", "MAP"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "figure"), TOTALS)
def test_a_total_outside_the_range_of_its_slices(tmp_path, name, content, figure):
    found = verify(put(tmp_path, name, content))
    assert causes(found) == {(figure, "total")}


def test_a_total_of_slices_that_leave_questions_out_may_lie_anywhere(tmp_path):
    text = "kind,n,MRR\nfactual,20,0.41\nsteps,20,0.52\nTotal,50,0.57\n"
    assert not verify(put(tmp_path, "t.csv", text)).broken


ROWS = [("q1", 0.4, 1.0, 0.5714), ("q2", 0.2, 0.5, 0.2857), ("q3", 0.2, 1.0, 0.5), ("q4", 0.0, 0.0, 0.0)]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("rows.csv", ("question_id", "precision", "recall", "f1")),
        ("rows.tsv", ("qid", "P@5", "R@5", "F1@5")),
        ("rows.jsonl", ("query_id", "precision_at_k", "recall_at_k", "f1_score")),
    ],
)
def test_f1_of_a_row_that_does_not_follow_from_its_own_parts(tmp_path, name, columns):
    rows = [dict(zip(columns, row, strict=True)) for row in ROWS]
    found = verify(put(tmp_path, name, rows))
    assert causes(found) == {(columns[3], "order")}
    assert [(f.question, f.apart) for f in found.figures if f.broken] == [("q3", 1)]


TRACE = {"retrieved_pages": ["34", "78", "35", "102", "45"], "relevant_pages": ["34", "35"], "precision_at_5": 0.4,
         "recall_at_5": 1.0, "f1_at_5": 0.5714, "mrr": 1.0, "ndcg_at_5": 0.9519}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("trace.csv", [{"query": "when?", **{k: repr(v) if isinstance(v, list) else v for k, v in TRACE.items()}}]),
        ("trace.json", {"query": "when?", **TRACE}),
        (
            "trace.jsonl",
            [
                {
                    "question": "when?",
                    **{k: TRACE[k] for k in ("retrieved_pages", "relevant_pages")},
                    "metrics": {k: v for k, v in TRACE.items() if not isinstance(v, list)},
                }
            ],
        ),
    ],
)
def test_a_trace_of_one_question(tmp_path, name, content):
    found = verify(put(tmp_path, name, content))
    (figure,) = [f for f in found.figures if f.broken]
    assert figure.name == "ndcg_at_5"
    assert figure.recomputed == pytest.approx(0.9197, abs=1e-4)


SAME = [("a", 0.2487, 0.3421), ("b", 0.3102, 0.4410), ("c", 0.2811, 0.3999)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", [{"system": s, "P@5": v, "nDCG@5": v, "MRR": m} for s, v, m in SAME]),
        ("t.json", {s: {"precision_at_5": v, "ndcg_at_5": v, "mrr": m} for s, v, m in SAME}),
        ("u.csv", [{"system": s, "measure": n, "mean": v} for s, v, _ in SAME for n in ("P@5", "nDCG@5")]),
    ],
)
def test_columns_that_are_identical_over_all_systems(tmp_path, name, content):
    assert {cause for _, cause in causes(verify(put(tmp_path, name, content)), "suspect")} == {"identical columns"}


def listed(retrieved, gold, name):
    """Rows of two systems with lists in the way of the file; MRR as the lists give it."""
    rows = []
    for system, lists in retrieved.items():
        for q, (hits, units) in enumerate(zip(lists, gold, strict=True)):
            rank = next((i for i, hit in enumerate(hits, 1) if hit in units), 0)
            cells = (hits, units) if name.endswith("jsonl") else (repr(hits), repr(units))
            rows.append({"system": system, "qid": f"q{q}", "retrieved_ids": cells[0], "gold_ids": cells[1],
                         "mrr": 1 / rank if rank else 0.0})  # fmt: skip
    return rows


GOLD = [[f"d{q}"] for q in range(6)]
HITS = [[f"d{q + 1}", f"d{q}", "d9"] for q in range(6)]
OTHER = [[f"d{q}", "d8"] for q in range(6)]


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.jsonl"])
@pytest.mark.parametrize(
    ("retrieved", "gold", "cause"),
    [
        ({"a": OTHER, "b": [[] for _ in GOLD]}, GOLD, "no hits"),
        ({"a": HITS, "b": HITS}, GOLD, "identical lists"),
        ({"a": HITS, "b": OTHER}, [[] for _ in GOLD], "no gold"),
    ],
)
def test_lists_that_are_empty_or_the_same_for_two_systems(tmp_path, name, retrieved, gold, cause):
    found = verify(put(tmp_path, name, listed(retrieved, gold, name)))
    assert {c for _, c in causes(found, "suspect")} == {cause}
    assert not verify(put(tmp_path, f"right-{name}", listed({"a": HITS, "b": OTHER}, GOLD, name))).causes


SAID = [("the red door opens", "the red door opens at nine"), ("at noon", "at noon"), ("nobody knows", "the guard"),
        ("a small blue boat sails home", "the small blue boat sails home today")]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "fields", "column", "measure", "scale"),
    [
        ("rows.csv", ("answer", "expected_answer"), "rouge_l", "ROUGE-L", 1),
        ("rows.jsonl", ("generated_answer", "reference_answer"), "bleu", "BLEU", 1),
        ("rows.tsv", ("response", "reference"), "rouge1", "ROUGE-1", 1),
        ("rows2.csv", ("prediction", "ground_truth"), "ROUGE-2", "ROUGE-2", 100),
        ("rows3.csv", ("answer", "reference"), "exact_match", "EM", 1),
    ],
)
def test_bleu_and_rouge_are_recomputed_from_answers(tmp_path, name, fields, column, measure, scale):
    import karat

    testset = [{"id": f"q{i}", "question": f"{i}?", "answers": [ref]} for i, (_, ref) in enumerate(SAID)]
    answers = [{"id": f"q{i}", "answer": answer} for i, (answer, _) in enumerate(SAID)]
    values = karat.score(testset, answers, measures=measure).per_query[measure]
    rows = [
        {"qid": f"q{i}", **dict(zip(fields, pair, strict=True)), column: round(scale * float(value), 4)}
        for i, (pair, value) in enumerate(zip(SAID, values, strict=True))
    ]
    found = verify(put(tmp_path, name, rows))
    assert [(f.name, f.verdict, f.cells) for f in found.figures] == [(column, "ok", 4)]
    rows[2][column] = round(rows[2][column] + 0.31 * scale, 4)
    assert causes(verify(put(tmp_path, name, rows))) == {(column, "answer text")}


PER_QUERY = [{"query_id": f"q{i}", "mrr": v, "recall@5": r} for i, (v, r) in enumerate(((1, 1), (0.5, 1), (0, 0)))]


@pytest.mark.parametrize(
    ("document", "figure"),
    [
        (lambda m: {"aggregate": {"mrr": m, "recall@5": 0.6667}, "per_query": PER_QUERY}, "mrr"),
        (lambda m: {"metrics": {"retrieval": {"mrr": {"mean": m, "std": 0.5}}}, "results": PER_QUERY}, "mrr"),
        (
            lambda m: {
                "dense": {
                    "summary": {"avg_mrr": m, "num_questions": 3},
                    "details": [
                        {**r, "metrics": {"mrr": r["mrr"]}} | {"mrr": None} for r in PER_QUERY
                    ],
                }
            },
            "mrr",
        ),
    ],
)  # fmt: skip
def test_aggregates_of_nested_json_are_recomputed_from_the_rows_beside_them(tmp_path, document, figure):
    right = verify(put(tmp_path, "right.json", document(0.5)))
    assert not right.broken
    assert [f.verdict for f in right.figures if (f.name, f.what) == (figure, "mean")] == ["ok"]
    found = verify(put(tmp_path, "wrong.json", document(0.6)))
    assert [(f.verdict, f.recomputed) for f in found.figures if f.broken and f.name == figure] == [
        ("mismatch", pytest.approx(0.5))
    ]


def test_results_are_joined_by_the_text_of_questions_as_score_does(tmp_path):
    words = ("oil", "air", "ice")
    testset = put(tmp_path, "qa.jsonl", [
        {"id": str(i), "question": f"what is {w}?", "gold": [{"id": w}]} for i, w in enumerate(words, 1)
    ])  # fmt: skip
    results = put(tmp_path, "mine.jsonl", [
        {"id": str(i), "question": f"what is {w}?", "retrieved": [{"id": w}]} for i, w in enumerate(words)
    ])  # fmt: skip
    table = put(tmp_path, "t.csv", "system,MRR\nmine,1.00\n")
    found = verify(results, table, testset=testset)
    assert [f.verdict for f in found.figures] == ["ok"]
    assert any("matched by their texts" in note for note in found.notes)


def test_a_mean_over_rows_that_are_wrong_is_not_fine(tmp_path):
    rows = [dict(zip(("qid", "precision", "recall", "f1"), row, strict=True)) for row in ROWS]
    mean = sum(row["f1"] for row in rows) / 4
    found = verify(put(tmp_path, "rows.csv", rows), put(tmp_path, "t.csv", f"system,f1\na,{mean:.4f}\n"))
    (figure,) = [f for f in found.figures if f.what == "mean"]
    assert figure.verdict == "suspect"
    assert "1 of its 4 rows is wrong" in figure.why


@pytest.mark.parametrize("table", [
    "system,n_queries,Hit@5,MRR\nexpanded,8,0.5789,0.41\nplain,8,0.6015,0.44\n",
    "system,n_queries,Hit@5,MRR\nexpanded,8,0.5789,0.41\nplain,1,0.6015,0.44\n",
    "system,samples,Precision@5\na,5,0.2496\nb,5,0.3128\n",
])  # fmt: skip
def test_a_column_of_settings_is_no_number_of_questions(tmp_path, table):
    found = verify(put(tmp_path, "t.csv", table), n=133)
    assert not found.causes
    assert not verify(put(tmp_path, "t.csv", table)).causes


def test_a_setting_of_the_rows_is_no_number_of_questions(tmp_path):
    rows = [{"system": "a", "n_queries": 8, "qid": q, "mrr": 1 / (q % 3 + 1)} for q in range(12)]
    mean = sum(row["mrr"] for row in rows) / 12
    table = put(tmp_path, "t.csv", f"system,n_queries,mrr\na,8,{mean:.4f}\n")
    assert not verify(put(tmp_path, "rows.csv", rows), table).causes
    bare = [{k: v for k, v in row.items() if k != "n_queries"} for row in rows]
    assert not verify(put(tmp_path, "bare.csv", bare), table).causes


def test_n_is_of_the_whole_and_not_of_its_slices(tmp_path):
    text = "system,query_type,Hit@5\na,fact,0.6250\na,steps,0.5500\na,all,0.5789\n"
    assert not verify(put(tmp_path, "t.csv", text), n=133).broken
    assert causes(verify(put(tmp_path, "t.csv", text.replace("0.5789", "0.5801")), n=133)) == {
        ("Hit@5", "not 0/1 over n")
    }
    nested = {"hit@5": 0.5789, "by_type": {"fact": {"hit@5": 0.625}, "steps": {"hit@5": 0.55}}}
    assert not verify(put(tmp_path, "t.json", nested), n=133).broken


@pytest.mark.parametrize("name", ["precision_at_7", "Precision at 7", "P@7", "precision"])
def test_a_cut_off_is_read_from_the_name_and_never_borrowed(tmp_path, name):
    rows = [{"qid": q, name: v, "recall@5": 1.0} for q, v in enumerate((0.142857, 0.285714, 0.0, 0.428571))]
    assert not verify(put(tmp_path, "rows.csv", rows), k=None if name == "precision" else 5).broken
    assert not verify(put(tmp_path, "t.csv", f"system,{name},Hit@5,n\na,0.2143,0.75,4\n")).broken


def test_what_is_missing_is_said(tmp_path):
    found = verify(put(tmp_path, "t.csv", "system,recall_at_k,ndcg_at_k\na,0.41,0.5\n"))
    assert {f.why for f in found.of("unchecked")} == {"k is unknown: add -k 5."}
    found = verify(put(tmp_path, "u.csv", "system,MRR,sparkle\na,0.41,0.5\n"))
    assert [f.why for f in found.of("unchecked")] == ["not a measure that karat knows, and there are no rows."]


@pytest.mark.parametrize(
    ("document", "figure"),
    [
        ({"dense": {"recall": {"1": 0.3, "5": 0.52, "10": 0.45}}}, "recall@10"),
        ({"hit_rate@k": {"@1": 0.3, "@5": 0.52, "@10": 0.45}}, "hit_rate@10"),
        ({"k=3": {"recall": 0.52}, "k=5": {"recall": 0.45}}, "recall"),
        ({"dense": {"hits@1": 0.52, "hits@5": 0.41}}, "hits@5"),
        ({"precision@5": 0.25, "recall@5": 0.3, "f1@5": 0.29}, "f1@5"),
    ],
)
def test_cut_offs_and_digits_as_json_writes_them(tmp_path, document, figure):
    assert causes(verify(put(tmp_path, "t.json", document))) == {(figure, "order")}


def test_lists_are_no_figures_that_could_not_be_read(tmp_path):
    trace = {"query": "when?", "retrieved": ["34", "78"], "gold": ["34"], "metrics": {"mrr": 1.0}}
    assert [f.verdict for f in verify(put(tmp_path, "t.json", trace)).figures] == ["ok"]
