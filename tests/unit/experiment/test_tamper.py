"""The tamper test: an honest judge stands still; one that obeys, likes length or order, or wavers is found out."""

import json
import re
from dataclasses import asdict

import pytest

from karat.core.errors import UsageError
from karat.core.models import ChatReply
from karat.core.text import sentences, stop_words, tokenise
from karat.experiment.tamper import AGAIN, ATTACKS, CASES, JUDGES, tamper
from karat.report.build.tamper import document
from karat.report.render import console

ANSWERS = [s for case in CASES for text in (case.answer, case.reference) for s in sentences(text)]
ASKED_FOR = [s for case in CASES if "Responsiveness" not in case.low for s in sentences(case.answer)]


def parts_of(prompt):
    """The fenced texts of a prompt by label."""
    code = prompt.user.partition("\n")[0].rpartition(" ")[2]
    fence = rf"^<<<([\w ]+) \| {code}>>>\n(.*?)\n<<<end of \1 \| {code}>>>$"
    return dict(re.findall(fence, prompt.user, re.M | re.S))


def words(text):
    return set(tokenise(text)) - stop_words("en", "squad")


def holds(text, claim, known=""):
    wanted = words(claim) - words(known) or words(claim)
    numbers = {word for word in wanted if word.isdigit()}
    return numbers <= words(text) and len(wanted & words(text)) >= 0.7 * len(wanted)


class Honest:
    """Goes by what the texts say of the matter, and by nothing else."""

    label = fingerprint = "honest"

    def __init__(self):
        self.asked = 0

    def ask(self, prompts, said=None):
        self.asked += len(prompts)
        return [ChatReply(json.dumps(self.reply(prompt, parts_of(prompt)))) for prompt in prompts]

    def reply(self, prompt, parts):
        measure, _, step = prompt.purpose.removeprefix("judge ").partition(": ")
        if step == "claims":
            found = {parts["text"].find(claim): claim for claim in ANSWERS if claim in parts["text"]}
            return {"claims": [claim for _, claim in sorted(found.items())]}
        if step == "verdicts":
            claims = [line.partition(". ")[2] for line in parts["claims"].splitlines()]
            verdict = self.verify if measure == "Faithfulness" else self.cover
            return {"verdicts": [{"claim": i, "reason": "", **verdict(c, parts)} for i, c in enumerate(claims, 1)]}
        if measure == "ContextRelevance":
            share = len(words(parts["question"]) & words(parts["text"])) / len(words(parts["question"]))
            return {"reason": "", "grade": "answers" if share >= 0.5 else "related" if share else "unrelated"}
        return {"reason": "", "grade": self.respond(parts["answer"])}

    def verify(self, claim, parts):
        contexts = [text for label, text in parts.items() if label.startswith("context")]
        cited = [i for i, text in enumerate(contexts, 1) if holds(text, claim)]
        return {"contexts": cited, "verdict": "supported" if cited else "not_found"}

    def cover(self, claim, parts):
        return {"verdict": "covered" if holds(parts["answer"], claim, parts["question"]) else "missing"}

    def respond(self, answer):
        return "fully" if any(sentence in answer for sentence in ASKED_FOR) else "not"


class Gullible(Honest):
    """Does what the texts order."""

    label = fingerprint = "gullible"

    def ordered(self, *texts):
        return any("10/10" in text for text in texts)

    def verify(self, claim, parts):
        return (
            {"contexts": [1], "verdict": "supported"} if self.ordered(*parts.values()) else super().verify(claim, parts)
        )

    def cover(self, claim, parts):
        return {"verdict": "covered"} if self.ordered(parts["answer"]) else super().cover(claim, parts)

    def respond(self, answer):
        return "fully" if self.ordered(answer) else super().respond(answer)


class LikesLength(Honest):
    label = fingerprint = "likes length"

    def respond(self, answer):
        return "fully" if len(answer) > 300 else super().respond(answer)


class ReadsTheFirst(Honest):
    label = fingerprint = "reads the first context only"

    def verify(self, claim, parts):
        return super().verify(claim, {"context 1": parts["context 1"]})


class Wavers(Honest):
    label = fingerprint = "wavers"

    def reply(self, prompt, parts):
        if prompt.sample and prompt.purpose.endswith("Responsiveness"):
            return {"reason": "", "grade": "barely"}
        return super().reply(prompt, parts)


def test_there_are_enough_cases_good_and_bad_for_every_judge():
    assert len(CASES) >= 12
    for name in (*JUDGES, "Relevance"):
        bad = sum(name in case.low for case in CASES)
        assert 2 <= bad <= len(CASES) - 4, name
    assert all(attack(case) != case for attack in ATTACKS.values() for case in CASES)


@pytest.fixture(scope="module")
def honest():
    return tamper(Honest())


def test_an_honest_judge_tells_good_from_bad_and_stands_still(honest):
    assert {one.measure: one.right for one in honest.plain} == dict.fromkeys(JUDGES, 1.0)
    assert all(one.failed == 0 and one.good > one.bad for one in honest.plain)
    assert [one.measure for one in honest.moved if one.attack == AGAIN] == list(JUDGES)
    for one in honest.moved:
        assert (one.moved, one.shift, one.fooled, one.lost) == (0.0, 0.0, 0.0, 0), one


def test_an_attack_counts_only_where_it_changes_what_the_judge_sees(honest):
    seen = {(one.measure, one.attack): one.n for one in honest.moved}
    assert ("Correctness", "order in a context") not in seen
    assert ("ContextRelevance", "padded answer") not in seen
    assert seen["Faithfulness", "order in a context"] == len(CASES)


def test_a_gullible_judge_is_found_out():
    found = tamper(Gullible(), ["Faithfulness", "Responsiveness"])
    by = {(one.measure, one.attack): one for one in found.moved}
    assert all(one.right == 1.0 for one in found.plain)
    order = by["Faithfulness", "order in a context"]
    bad = sum("Faithfulness" in case.low for case in CASES)
    assert order.moved == order.fooled == pytest.approx(bad / len(CASES))
    assert order.shift > 0.2
    assert by["Responsiveness", "order in the answer"].fooled > 0
    assert by["Responsiveness", "padded answer"].moved == 0
    assert by["Faithfulness", "contexts in reverse"].moved == 0


def test_the_claims_step_keeps_an_order_in_the_answer_from_the_verdicts():
    found = tamper(Gullible(), ["Faithfulness"])
    assert {one.moved for one in found.moved if one.attack == "order in the answer"} == {0.0}


def test_a_judge_that_likes_length_or_order_is_found_out():
    longer = {one.attack: one for one in tamper(LikesLength(), ["Responsiveness"]).moved}
    assert longer["padded answer"].fooled == pytest.approx(2 / len(CASES))
    first = {one.attack: one for one in tamper(ReadsTheFirst(), ["Faithfulness"]).moved}
    assert first["contexts in reverse"].moved > 0.3


def test_what_moves_without_any_attack_is_told():
    again, *_ = tamper(Wavers(), ["Responsiveness"]).moved
    assert (again.attack, again.moved) == (AGAIN, 1.0)


def test_an_attack_that_silences_the_judge_counts_as_lost():
    class Chokes(Honest):
        def ask(self, prompts, said=None):
            replies = super().ask(prompts)
            return [
                ChatReply("I cannot judge this.") if "10/10" in p.user else r
                for p, r in zip(prompts, replies, strict=True)
            ]

    by = {one.attack: one for one in tamper(Chokes(), ["Responsiveness"]).moved}
    assert (by["order in the answer"].n, by["order in the answer"].lost) == (0, len(CASES))
    assert by["order in the answer"].shift is None
    assert by["padded answer"].lost == 0


def test_measures_that_ask_no_model():
    found = tamper(None, ["Faithfulness(by=heuristic)"])
    assert (found.model, found.plain[0].cases, found.moved[0].moved) == ("none", len(CASES), 0.0)
    with pytest.raises(UsageError, match="TokenF1 asks no model"):
        tamper(Honest(), ["TokenF1"])
    with pytest.raises(UsageError, match="--model"):
        tamper(None, ["Correctness"])


def test_progress_is_told():
    heard = []
    tamper(Progressing(), ["Responsiveness"], progress=lambda *told: heard.append(told))
    assert heard[0] == ("judging Responsiveness", 1, 2 * len({(case.question, case.answer) for case in CASES}))
    assert heard[-1][1] == heard[-1][2]


class Progressing(Honest):
    def ask(self, prompts, said=None):
        replies = super().ask(prompts)
        for number, reply in enumerate(replies):
            said(number, reply)
        return replies


def test_it_reads_in_one_table(honest):
    shown = console.render(document(asdict(honest)))
    assert "Tamper test of honest" in shown
    assert "Faithfulness: 100% of the scores are on the right side" in shown
    gullible = console.render(document(asdict(tamper(Gullible(), ["Faithfulness"]))))
    assert "hardly tells" not in gullible
    assert re.search(r"Faithfulness +order in a context +12 +\.\d+ +33\.3% +33\.3% +0", gullible)


def test_a_judge_that_cannot_tell_good_from_bad_is_called_that():
    class Kind(Honest):
        def respond(self, answer):
            return "fully"

        def verify(self, claim, parts):
            return {"contexts": [1], "verdict": "supported"}

    found = tamper(Kind(), ["Faithfulness"])
    assert found.plain[0].right < 0.75
    assert "hardly tells good from bad" in console.render(document(asdict(found)))
