"""Filling a claims table: which claims and premises are judged, each once, and what comes of what is known."""

from dataclasses import dataclass, field

import pytest

from karat.core.answered import AnswerTable
from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER, PARTIAL, RELATIONS, ClaimRows
from karat.core.errors import UsageError
from karat.core.types import Nugget
from karat.measures.entailment.fill import fill, places_of
from karat.measures.entailment.judging import BatchVerdicts, SplitText, StoredClaims, StoredSide, StoredVerdict


@dataclass
class WordJudge:
    """Splits at full stops; entails what has all its words in the premise. It counts what it is asked."""

    name: str = "words"
    prompt: str = "words/1"
    most: int = 20
    tasks: frozenset = frozenset(("entail", "support", "relevant", "used"))
    broken: str = ""
    splits: list = field(default_factory=list)
    batches: list = field(default_factory=list)

    def split(self, texts):
        self.splits += texts
        return [
            SplitText(error="unusable") if self.broken and self.broken in text
            else SplitText(tuple(f"{one.strip()}." for one in text.split(".") if one.strip()))
            for _, text in texts
        ]  # fmt: skip

    def judge(self, batches):
        self.batches += batches
        return [self._one(batch) for batch in batches]

    def _one(self, batch):
        if self.broken and any(self.broken in text for text in batch.premise.texts):
            return BatchVerdicts(error="the reply could not be used")
        held = set(" ".join(batch.premise.texts).lower().replace(".", "").split())
        verdicts = []
        for claim in batch.claims:
            said = set(claim.lower().rstrip(".").split())
            part = PARTIAL if batch.task == "support" and said & held else NEITHER
            verdicts.append((ENTAILED if said <= held else part, "by words"))
        return BatchVerdicts(tuple(verdicts))

    def notes(self):
        return []

    @property
    def asked(self):
        return [(batch.task, claim, batch.premise) for batch in self.batches for claim in batch.claims]


def answered(*rows, systems=("s",), nuggets=()):
    questions = tuple(f"q{n}" for n in range(len(rows) // len(systems)))
    return AnswerTable(
        systems, questions,
        texts=[row.get("question", "Which?") for row in rows],
        answers=[row.get("answer", "") for row in rows],
        references=[tuple(row.get("references", ())) for row in rows],
        contexts=[row.get("contexts", ()) for row in rows],
        answerable=[True] * len(rows),
        nuggets=nuggets,
    )  # fmt: skip


def said(table):
    """{(pair, side, number, premise): verdict} with passages as numbers."""
    return {
        (pair, side, number, passages or kind): verdict
        for (pair, side, number, kind, passages), verdict in zip(places_of(table), table.verdict.tolist(), strict=True)
    }


ROW = {
    "answer": "Oil is black. Water is wet.",
    "references": ("Oil is black. Snow is white.",),
    "contexts": ("Oil is black and thick", "Snow is white", "Oil is black and thick"),
}


def test_each_relation_holds_its_side_against_its_premises():
    table = fill(answered(ROW), ["answer by reference", "reference by answer"], WordJudge()).table
    assert said(table) == {
        (0, "answer", 1, "reference"): ENTAILED, (0, "answer", 2, "reference"): NEITHER,
        (0, "reference", 1, "answer"): ENTAILED, (0, "reference", 2, "answer"): NEITHER,
    }  # fmt: skip
    assert table.passages.tolist() == [3]


def test_a_claim_and_a_premise_are_judged_once_over_relations_passages_and_systems():
    judge = WordJudge()
    filled = fill(answered(ROW, ROW, systems=("a", "b")), ["answer by passage", "reference by passage"], judge)
    verdicts = said(filled.table)
    assert (
        verdicts[0, "answer", 1, (1,)] == verdicts[0, "answer", 1, (3,)] == verdicts[1, "answer", 1, (3,)] == ENTAILED
    )
    assert verdicts[1, "reference", 2, (2,)] == ENTAILED
    assert len(filled.table.claim) == 2 * 4 * 3
    # three distinct claims (one on both sides) against two distinct passages
    assert len(judge.asked) == len(set(judge.asked)) == filled.judged == 3 * 2
    assert len(judge.splits) == 2
    assert len(judge.batches) == 2  # a call a passage


@pytest.mark.parametrize("relations", [RELATIONS, RELATIONS[::-1], ["sentence by cited"]])
def test_batches_of_1_and_20_give_the_same_table(relations):
    row = {**ROW, "answer": "Oil is black [1][2]. Water is wet [3]. Snow is white [9]."}
    nuggets = [(Nugget("oil is black", True), Nugget("snow is grey", False))]
    one, many = WordJudge(most=1), WordJudge(most=20)
    tables = [fill(answered(row, nuggets=nuggets), relations, judge).table for judge in (one, many)]
    assert said(tables[0]) == said(tables[1])
    assert list(tables[0].texts) == list(tables[1].texts)
    assert sorted(map(repr, one.asked)) == sorted(map(repr, many.asked))
    assert len(one.batches) > len(many.batches)


def test_citations_are_held_against_together_alone_and_all_but_each():
    row = {"answer": "Oil is black [1][2][3].", "contexts": ("oil", "is", "black", "wet")}
    verdicts = said(fill(answered(row), ["sentence by cited"], WordJudge()).table)
    sets = {passages: verdict for (*_, passages), verdict in verdicts.items()}
    assert sets == {
        (1, 2, 3): ENTAILED, (1,): PARTIAL, (2,): PARTIAL, (3,): PARTIAL,
        (1, 2): PARTIAL, (1, 3): PARTIAL, (2, 3): PARTIAL,
    }  # fmt: skip


def test_of_four_citations_the_first_three_have_their_own_sets_and_one_past_the_last_passage_has_none():
    row = {"answer": "Oil is black [1][2][3][4][7].", "contexts": ("oil", "is", "black", "wet")}
    table = fill(answered(row), ["sentence by cited"], WordJudge()).table
    sets = {passages for *_, passages in said(table)}
    assert {(1, 2, 3, 4), (1, 2, 3), (1, 2), (2, 3), (1, 3), (4,), (1, 2, 4)} <= sets
    assert all(max(members) <= 4 for members in sets)
    assert table.cites == {0: (1, 2, 3, 4, 7)}


def test_sentences_of_passages_know_their_passage_and_go_by_passage():
    judge = WordJudge()
    row = {"question": "Which oil?", "answer": "Black oil.", "contexts": ("Black oil. Wet.", "", "Oil which.")}
    table = fill(answered(row), ["context by question", "context by answer"], judge).table
    assert list(table.texts) == ["Black oil.", "Wet.", "Oil which."]
    assert table.cites == {0: (1,), 1: (1,), 2: (3,)}
    assert [(batch.task, batch.claims) for batch in judge.batches] == [
        ("relevant", ("Black oil.", "Wet.")), ("relevant", ("Oil which.",)),
        ("used", ("Black oil.", "Wet.")), ("used", ("Oil which.",)),
    ]  # fmt: skip
    assert said(table)[0, "context", 1, "answer"] == ENTAILED


@pytest.mark.parametrize(
    "answer",
    ["", None, "[1][2]", " ", "<think>Oil is black.</think>", "I do not know.", "The answer is not available."],
)
def test_an_answer_that_says_nothing_is_known_to_claim_nothing_and_entails_nothing_unasked(answer):
    judge = WordJudge()
    table = fill(answered({**ROW, "answer": answer}), ["answer by reference", "reference by answer"], judge).table
    assert table.known[0, :2].all()
    assert not table.of_side("answer").any()
    if answer is None or not answer.strip(" []12") or "<think>" in answer:
        assert judge.asked == []
        assert said(table) == {(0, "reference", 1, "answer"): NEITHER, (0, "reference", 2, "answer"): NEITHER}


def test_empty_contexts_are_no_passages_and_blank_ones_entail_nothing_unasked():
    judge = WordJudge()
    rows = [{**ROW, "contexts": ()}, {**ROW, "contexts": None}, {**ROW, "contexts": ("  ", "...")}]
    table = fill(answered(*rows), ["answer by passage"], judge).table
    assert table.passages.tolist() == [0, -1, 2]
    assert said(table) == {(2, "answer", n, (p,)): NEITHER for n in (1, 2) for p in (1, 2)}
    assert judge.asked == []


def test_without_a_reference_the_answer_has_no_verdicts_and_that_there_is_none_is_known():
    table = fill(answered({**ROW, "references": ("  ", "")}), ["answer by reference"], WordJudge()).table
    assert len(table.claim) == 0
    assert table.known[0, :2].all()
    assert table.per_pair(table.of_side("reference")).tolist() == [0]


def test_the_first_reference_with_words_is_used_and_that_there_are_several_is_counted():
    row = {**ROW, "references": ("!", "Oil is black.", "Water is wet.")}
    filled = fill(answered(row), ["answer by reference"], WordJudge())
    assert said(filled.table) == {(0, "answer", 1, "reference"): ENTAILED, (0, "answer", 2, "reference"): NEITHER}
    assert filled.several == 1


def test_nonsense_fails_the_pair_and_the_relation_it_was_asked_for_with_the_reason():
    rows = [ROW, {**ROW, "contexts": ("Oil is NOISE", "Snow is white")}]
    table = fill(answered(*rows), ["answer by passage", "answer by reference"], WordJudge(broken="NOISE")).table
    assert table.failed == {(1, "answer by passage"): "the reply could not be used"}
    assert said(table)[1, "answer", 1, (2,)] == NEITHER
    assert (1, "answer", 1, (1,)) not in said(table)
    assert table.lacking("answer by passage")[1].startswith("2 of 4 verdicts are missing")


def test_a_text_that_cannot_be_split_fails_every_relation_of_its_side():
    judge = WordJudge(broken="Oil is black. Water")
    table = fill(answered(ROW), ["answer by passage", "reference by answer"], judge).table
    assert table.failed == {
        (0, "answer by passage"): "unusable", (0, "reference by answer"): "the reply could not be used",
    }  # fmt: skip
    assert table.known[0, :2].tolist() == [False, True]


def stored_of(filled, systems=("s",), questions=("q0",)):
    """What a filled table is when it is read again."""
    table = filled.table
    verdicts = {
        origin.key: StoredVerdict(verdict, "before", origin)
        for origin, verdict in zip(filled.origins, table.verdict.tolist(), strict=True) if origin.key
    }  # fmt: skip
    sides = {}
    for (pair, side), origin in filled.sides.items():
        s, q = divmod(pair, len(questions))
        rows = (table.pair == pair) & table.of_side(side)
        sides[systems[s], questions[q], side] = StoredSide.of([table.texts[row] for row in rows.nonzero()[0]], origin)
    return StoredClaims(sides, verdicts)


def test_what_is_stored_is_not_judged_again_and_more_relations_ask_only_for_what_is_new():
    first = fill(answered(ROW), ["answer by passage"], WordJudge())
    judge = WordJudge()
    again = fill(answered(ROW), ["answer by passage"], judge, stored_of(first))
    assert judge.splits == judge.asked == []
    assert (again.judged, again.known) == (0, 6)
    assert said(again.table) == said(first.table)
    more = fill(answered(ROW), ["answer by passage", "answer by reference"], judge, stored_of(first))
    assert [claim for _, claim, _ in judge.asked] == ["Oil is black.", "Water is wet."]
    assert len(said(more.table)) == 8


@pytest.mark.parametrize(
    ("row", "other"),
    [
        (ROW, {"name": "another"}),
        (ROW, {"prompt": "words/2"}),
        ({**ROW, "contexts": ("Oil is clear", "Water too", "Nothing")}, {}),
    ],
)
def test_another_judge_prompt_or_premise_is_judged_anew(row, other):
    stored = stored_of(fill(answered(ROW), ["answer by passage"], WordJudge()))
    judge = WordJudge(**other)
    filled = fill(answered(row), ["answer by passage"], judge, stored)
    assert filled.known == 0
    assert len(judge.asked) == filled.judged > 0


def test_a_changed_answer_is_split_anew_and_keeps_the_verdicts_on_claims_it_still_makes():
    stored = stored_of(fill(answered(ROW), ["answer by reference"], WordJudge()))
    judge = WordJudge()
    fill(answered({**ROW, "answer": "Oil is black. Fire is hot."}), ["answer by reference"], judge, stored)
    assert len(judge.splits) == 1
    assert [claim for _, claim, _ in judge.asked] == ["Fire is hot."]


def test_stored_verdicts_stand_without_a_judge():
    first = fill(answered(ROW), ["answer by reference"], WordJudge())
    alone = fill(answered(ROW), ["answer by reference", "answer by passage"], None, stored_of(first))
    assert said(alone.table) == said(first.table)
    assert alone.table.lacking("answer by passage") == {0: "6 of 6 verdicts are missing (answer by passage)"}


def given(*verdicts, texts=("Oil is black.", "Water is wet."), passages=None):
    rows = ClaimRows(("s",), ("q0",))
    rows.claims(0, "answer", texts)
    if passages is not None:
        rows.passages(0, passages)
    for number, kind, members, verdict in verdicts:
        rows.verdict(0, "answer", number, kind, verdict, passages=members, reason="a person said so")
    return rows.table()


def test_a_given_verdict_wins_over_a_stored_one_is_counted_and_stays():
    first = fill(answered(ROW), ["answer by reference"], WordJudge())
    corrections = given((1, "reference", (), ENTAILED), (2, "reference", (), CONTRADICTED))
    judge = WordJudge()
    corrected = fill(answered(ROW), ["answer by reference"], judge, stored_of(first), [corrections])
    assert (corrected.given, corrected.changed, judge.asked) == (2, 1, [])
    assert said(corrected.table)[0, "answer", 2, "reference"] == CONTRADICTED
    for other in (WordJudge(), WordJudge(name="another"), None):  # whoever judges later
        later = fill(answered(ROW), ["answer by reference"], other, stored_of(corrected))
        assert said(later.table)[0, "answer", 2, "reference"] == CONTRADICTED


def test_a_file_of_one_claim_corrects_that_one_and_the_others_stay():
    first = fill(answered(ROW), ["answer by reference"], WordJudge())
    one = given((1, "reference", (), ENTAILED), texts=("water IS  wet.",))
    filled = fill(answered(ROW), ["answer by reference"], WordJudge(), stored_of(first), [one])
    assert said(filled.table) == {(0, "answer", 1, "reference"): ENTAILED, (0, "answer", 2, "reference"): ENTAILED}
    assert filled.changed == 1


def test_claims_that_are_no_stored_ones_replace_them_and_a_mixture_is_refused():
    first = fill(answered(ROW), ["answer by reference"], WordJudge())
    other = given((1, "reference", (), ENTAILED), texts=("It is oil.",))
    filled = fill(answered(ROW), ["answer by reference"], WordJudge(), stored_of(first), [other])
    assert list(filled.table.texts) == ["It is oil."]
    mixed = given((1, "reference", (), ENTAILED), texts=("Oil is black.", "It is oil."))
    with pytest.raises(UsageError, match=r"not among the stored ones of s, question q0, side answer.*'It is oil\.'"):
        fill(answered(ROW), ["answer by reference"], WordJudge(), stored_of(first), [mixed])


def test_a_file_stands_alone_where_texts_of_passages_are_not_known():
    table = given((1, "passage", (2,), ENTAILED), (1, "passages", (1, 2), ENTAILED), passages=2)
    filled = fill(answered({**ROW, "contexts": None}), ["answer by passage"], None, None, [table])
    assert filled.table.passages.tolist() == [2]
    assert said(filled.table) == {(0, "answer", 1, (2,)): ENTAILED, (0, "answer", 1, (1, 2)): ENTAILED}


def test_a_verdict_by_a_passage_that_is_not_there_is_refused():
    table = given((1, "passage", (4,), ENTAILED))
    with pytest.raises(UsageError, match="a verdict by passage 4 on s, question q0, side answer, and there are 3"):
        fill(answered(ROW), ["answer by passage"], None, None, [table])


def test_a_judge_that_cannot_tell_a_relation_is_refused():
    with pytest.raises(UsageError, match="words cannot judge 'context by question'"):
        fill(answered(ROW), ["context by question"], WordJudge(tasks=frozenset(("entail",))))


def test_several_files_are_read_together_and_may_not_speak_of_the_same_side():
    rows = ClaimRows(("s",), ("q0",))
    rows.claims(0, "reference", ["Oil is black."])
    rows.verdict(0, "reference", 1, "answer", NEITHER)
    other = rows.table()
    mine = given((1, "reference", (), ENTAILED))
    table = fill(answered(ROW), ["answer by reference", "reference by answer"], None, None, [mine, other]).table
    assert said(table) == {(0, "answer", 1, "reference"): ENTAILED, (0, "reference", 1, "answer"): NEITHER}
    with pytest.raises(UsageError, match="two claims files have claims of s, question q0, side answer"):
        fill(answered(ROW), ["answer by reference"], None, None, [mine, mine])
