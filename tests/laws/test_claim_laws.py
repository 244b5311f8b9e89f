"""Laws of every measure of the claims table, over any verdicts; and reading what was written."""

import csv
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from claim_formulas import JudgedCase, answers_of, as_ragchecker, by_formula, ragchecker_file
from hypothesis import given
from hypothesis import strategies as st

from karat.core.claims import (
    CONTRADICTED,
    ENTAILED,
    NEITHER,
    PARTIAL,
    PREMISES,
    RELATIONS,
    SIDES,
    UNJUDGED,
    ClaimRows,
)
from karat.core.errors import KaratError
from karat.core.language import parse, parse_all
from karat.core.measure import MEASURES, Measure
from karat.files import read_claims, write_claims
from karat.measures.compute import compute
from karat.measures.dialects import DIALECTS

VERDICT = st.sampled_from([ENTAILED, ENTAILED, NEITHER, CONTRADICTED])
NAMES = list(by_formula(JudgedCase((), (), (), (), 0)))


@st.composite
def cases(draw):
    passages = draw(st.integers(0, 3))
    sizes = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    row = st.tuples(*[VERDICT] * passages)
    one, other = (draw(st.tuples(*[VERDICT] * size)) for size in sizes)
    by = [draw(st.tuples(*[row] * size)) for size in sizes]
    return JudgedCase(one, other, by[0], by[1], passages)


CASES = st.lists(cases(), min_size=1, max_size=4)


def values_of(some, names=NAMES):
    answered = answers_of(some)
    measures = [parse(name) for name in names]
    return compute(measures, answered.systems, answered.questions, answered=answered).values[0]


def of_the_claims_table():
    return [m for spec in MEASURES for m in (Measure(spec), *map(parse, spec.variants)) if m.relations]


def test_the_formulas_cover_every_measure_of_claims_by_answer_reference_and_passage():
    plain = {"answer by reference", "reference by answer", "answer by passage", "reference by passage"}
    named = {m.spec.name for m in of_the_claims_table() if set(m.relations) <= plain and "claims." in _home(m)}
    assert named <= {parse(name).spec.name for name in NAMES}
    assert len(named) == 9
    for measure in of_the_claims_table():
        assert set(measure.relations) <= set(RELATIONS)
        assert measure.spec.formula
        assert measure.spec.defined_by
        assert not measure.needs or "by" in measure.params


def _home(measure):
    return measure.spec.function.__module__


@given(CASES)
def test_values_are_those_of_the_formulas(some):
    expected = [[np.nan if v is None else v for v in by_formula(case).values()] for case in some]
    np.testing.assert_allclose(values_of(some), expected, rtol=1e-12)


@given(CASES)
def test_under_its_dialect_they_are_ragcheckers(some):
    dialect, answered = DIALECTS["ragchecker"], answers_of(some)
    table, _ = read_claims(ragchecker_file(some), answered.systems, answered.questions)
    measures = parse_all(list(dialect.names), names=dialect.names)
    scores = compute(measures, answered.systems, answered.questions, answered=replace(answered, claims=table))
    expected = [[as_ragchecker(case)[name] for name in dialect.names] for case in some]
    np.testing.assert_allclose(scores.values[0], expected, rtol=1e-12)


@given(CASES)
def test_what_answers_claim_adds_up(some):
    for values in values_of(some):
        of = dict(zip(NAMES, values, strict=True))
        noise = [f"NoiseSensitivity(in={some})" for some in ("relevant", "irrelevant")]
        parts = (
            ("ClaimPrecision", "ClaimHallucination", *noise),
            ("Faithfulness(by=claims)", "ClaimHallucination", "SelfKnowledge"),
        )
        sums = [sum(of[name] for name in names) for names in parts]
        assert all(np.isnan(total) or total == pytest.approx(1) for total in sums)
        assert (values[~np.isnan(values)] >= 0).all()
        assert (values[~np.isnan(values)] <= 1).all()


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_claims_and_passages_changes_nothing(case, random):
    order = [random.sample(range(n), n) for n in (len(case.answer), len(case.reference), case.passages)]

    def moved(matrix, claims):
        return tuple(tuple(matrix[c][p] for p in order[2]) for c in claims)

    other = JudgedCase(
        tuple(case.answer[c] for c in order[0]), tuple(case.reference[c] for c in order[1]),
        moved(case.answer_by, order[0]), moved(case.reference_by, order[1]), case.passages,
    )  # fmt: skip
    np.testing.assert_array_equal(values_of([case]), values_of([other]))


@given(cases(), st.sampled_from([NEITHER, PARTIAL]))
def test_only_entailment_counts(case, verdict):
    """What contradicts a claim supports it as little as what says nothing of it."""

    def plain(row):
        return tuple(one if one == ENTAILED else verdict for one in row)

    other = replace(
        case, answer=plain(case.answer), reference=plain(case.reference),
        answer_by=tuple(map(plain, case.answer_by)), reference_by=tuple(map(plain, case.reference_by)),
    )  # fmt: skip
    np.testing.assert_array_equal(values_of([case]), values_of([other]))


@given(cases())
def test_one_more_passage_that_says_nothing_lowers_context_precision_alone(case):
    longer = replace(
        case, passages=case.passages + 1, answer_by=tuple((*row, NEITHER) for row in case.answer_by),
        reference_by=tuple((*row, NEITHER) for row in case.reference_by),
    )  # fmt: skip
    kept = [name for name in NAMES if name != "ContextClaimPrecision"]
    np.testing.assert_array_equal(values_of([case], kept), values_of([longer], kept))
    before, after = (values_of([one], ["ContextClaimPrecision"]).item() for one in (case, longer))
    assert np.isnan(before) or after == pytest.approx(before * case.passages / (case.passages + 1))


@given(CASES)
def test_an_undefined_score_is_zero_where_that_is_asked_for_and_others_stay(some):
    zeros = [f"{name.removesuffix(')')}{', ' if '(' in name else '('}empty=zero)" for name in NAMES]
    plain, zero = values_of(some), values_of(some, zeros)
    assert (zero[np.isnan(plain)] == 0).all()
    changed = ~np.isnan(plain) & (plain != zero)
    without = np.array([case.passages == 0 for case in some])
    allowed = [name in ("ClaimHallucination", "SelfKnowledge", "ClaimF1") for name in NAMES]
    assert not (changed & ~(without[:, None] & np.array(allowed))).any()


TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=8).filter(str.strip)


@st.composite
def tables(draw):
    rows = ClaimRows(["a", "=b"], ["1", "q,2"])
    for pair in range(4):
        passages = draw(st.integers(-1, 3))
        rows.passages(pair, passages)
        for side in SIDES:
            count = draw(st.integers(-1, 2))
            if count < 0:
                continue
            cites = [tuple(draw(st.lists(st.integers(1, 5), unique=True, max_size=2))) for _ in range(count)]
            vital = [draw(st.booleans()) if side == "nugget" else True for _ in range(count)]
            rows.claims(pair, side, [draw(TEXT) for _ in range(count)], vital=vital, cites=cites)
            for number in range(1, count + 1):
                for premise in draw(st.sets(st.sampled_from(PREMISES), max_size=3)):
                    members = ()
                    if premise.startswith("passage"):
                        if passages < 1:
                            continue
                        most = 1 if premise == "passage" else 3
                        numbers = st.integers(1, passages)
                        members = draw(st.lists(numbers, min_size=1, max_size=most, unique=True))
                    rows.verdict(
                        pair, side, number, premise, draw(st.sampled_from([2, 1, 0, -1, UNJUDGED])), passages=members,
                        reason=draw(st.one_of(st.just(""), TEXT)),
                    )  # fmt: skip
        for relation in draw(st.sets(st.sampled_from(RELATIONS), max_size=1)):
            rows.failed[pair, relation] = draw(TEXT)
    return rows.table()


@given(tables(), st.sampled_from(["claims.csv", "claims.parquet"]))
def test_reading_what_was_written_gives_the_same_table(table, name):
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write_claims(table, path, judge="j")
        if not (table.known.any() or (table.passages >= 0).any() or table.failed):
            return
        read, _ = read_claims(path, table.systems, table.questions)
        for field in ("pair", "side", "vital", "known", "passages", "claim", "premise", "passage", "verdict"):
            assert getattr(read, field).tolist() == getattr(table, field).tolist(), field
        for field in ("texts", "cites", "reasons", "failed"):
            assert getattr(read, field) == getattr(table, field), field
        assert [set(members) for members in read.sets] == [set(members) for members in table.sets]
        again = Path(folder) / f"again-{name}"
        write_claims(read, again, judge="j")
        assert again.read_bytes() == path.read_bytes()


CELL = st.sampled_from(
    ["", " ", "a", "q1", "answer", "nugget", "passages", "1", "2.0", "-1", "0", "1,2", "99999999999999999999", "nan",
     "entailed", "Neutral", "failed", "vital", "x\x00", "=1", "reference", "é\u2028", '"', "[1]", "1e9"]
)  # fmt: skip
FIELDS = st.lists(
    st.sampled_from(["question", "side", "claim", "text", "cites", "importance", "premise", "verdict", "reason"]),
    unique=True, min_size=1,
)  # fmt: skip
ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), CELL, st.just("Entailment")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(CELL, inner, max_size=2)),
    max_leaves=6,
)
LISTS = ("response_claims", "gt_answer_claims", "answer2response", "response2answer", "retrieved2response",
         "retrieved2answer", "retrieved_context")  # fmt: skip


def read_or_refused(source):
    problem = ""
    try:
        table, _ = read_claims(source, ["a"], ["q1", "1"])
    except KaratError as error:
        problem = str(error)
    if problem:
        assert problem.endswith((".", "?"))
        return
    assert table.known.shape == (2, len(SIDES))
    assert (table.claim < len(table.texts)).all()
    assert all(text.strip() for text in table.texts)


@given(st.data(), FIELDS, st.booleans())
def test_any_table_is_read_or_refused_in_a_sentence(data, fields, as_file):
    rows = data.draw(st.lists(st.fixed_dictionaries(dict.fromkeys(fields, CELL)), min_size=1, max_size=4))
    if not as_file:
        read_or_refused(rows)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "claims.csv"
        lines = [fields, *([row[name] for name in fields] for row in rows)]
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(lines)
        read_or_refused(path)


@given(st.dictionaries(st.sampled_from(LISTS), ANY, min_size=1), CELL)
def test_any_ragchecker_record_is_read_or_refused_in_a_sentence(lists, question):
    read_or_refused({"results": [{"query_id": question, **lists}]})
