"""Steps: the calls that a system made for a question one after the other, as a run of their hits and as judged ranks.

A step is a row as `Run.steps` holds it. One that lists hits is a retrieval call; any other is the call of a tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any
from unicodedata import category, normalize

import numpy as np

from karat.core.ranked import ranking
from karat.core.run import HIT_FIELDS, Run, hit_tokens
from karat.core.types import Gold

if TYPE_CHECKING:
    from karat.core.judged import Bools, Floats, Ints, Judged

Step = Mapping[str, Any]
HITS, STEP = "retrieved", "step"
_WIDE = 1 << 32  # more than any rank
_PUNCTUATION, _SIGNS = ("Po", "Ps", "Pe", "Pi", "Pf"), "#%&*/@\\"  # of the former, those that change what is asked


def hit_id(fields: Mapping[str, Any]) -> str:
    """What a hit is called when it gives no id: the most special name it has, as gold is labelled."""
    if "id" in fields:
        return str(fields["id"])
    named = {name: fields[name] for name in ("doc", "page", "url", "chunk", "span") if name in fields}
    if not named:
        return str(fields.get("text", fields.get("quote", "")))
    if isinstance(named.get("page"), tuple | list):
        named["page"] = "-".join((named["page"][0], named["page"][-1]))
    if isinstance(named.get("span"), list):
        named["span"] = tuple(named["span"])
    return Gold(**named).label


def union_of(lists: Iterable[Iterable[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The hits of several lists, each once, in order of first appearance."""
    union: dict[str, dict[str, Any]] = {}
    for hit in chain.from_iterable(lists):
        union.setdefault(hit_id(hit), hit)
    return list(union.values())


def repeated_calls(steps: Iterable[Step]) -> list[bool | None]:
    """Whether the same tool was asked the same before; None without a query.

    Letter case and punctuation around words are left aside. Signs of a calculation or a code are not: 2*3 is not 2+3.
    """
    before: set[tuple[str, str]] = set()
    repeated: list[bool | None] = []
    for step in steps:
        query = str(step.get("query") or "").strip()
        if not query:
            repeated.append(None)
            continue
        words = map(_bare, normalize("NFC", query.lower()).split())
        call = (str(step.get("tool") or ""), " ".join(filter(None, words)) or query)
        repeated.append(call in before)
        before.add(call)
    return repeated


def _bare(word: str) -> str:
    """A word without the punctuation around it."""
    inside = [place for place, sign in enumerate(word) if sign in _SIGNS or category(sign) not in _PUNCTUATION]
    return word[inside[0] : inside[-1] + 1] if inside else ""


def run_of_steps(run: Run) -> Run:
    """The hits of all steps of a question as one list, step by step; the field `step` counts the steps from 0."""
    lists = {
        qid: [{**hit, STEP: number} for number, step in enumerate(steps) for hit in step.get(HITS, ())]
        for qid, steps in run.steps.items()
    }
    return _run_of(run, lists, (*HIT_FIELDS, STEP))


def read_by_answers(run: Run) -> Run:
    """The run with the hits that its answers could be made from: of all steps, each once, where steps have texts."""
    if not any(run.steps.values()):
        return run
    order, names = ranking(run).tolist(), [name for name in HIT_FIELDS if name in run.fields]
    lists: dict[str, list[dict[str, Any]]] = {}
    for q, qid in enumerate(run.question_ids):
        hits = union_of(step.get(HITS, ()) for step in run.steps.get(qid, ()))
        if not any(hit.get("text") is not None for hit in hits):
            places = order[run.offsets[q] : run.offsets[q + 1]]
            hits = [{"id": run.doc_list[i], **{name: run.fields[name][i] for name in names}} for i in places]
        lists[qid] = hits
    return _run_of(run, lists, HIT_FIELDS)


def _run_of(run: Run, lists: Mapping[str, Sequence[Mapping[str, Any]]], names: Sequence[str]) -> Run:
    hits = list(chain.from_iterable(lists.values()))
    held = [name for name in names if any(hit.get(name) is not None for hit in hits)]
    return replace(
        run,
        question_ids=list(lists),
        offsets=np.concatenate(([0], np.cumsum([len(one) for one in lists.values()]))).astype(np.int64),
        _docs=list(map(hit_id, hits)),
        _scores=None,
        order="given",
        fields={name: [_whole(hit.get(name)) for hit in hits] for name in held},
        unique=False,
        by_question=None,
    )


def _whole(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True, kw_only=True)
class JudgedSteps:
    """Where the judged units stand in the steps of each pair of system and question.

    `judged` has the hits of all steps of a question as one list; `runs` are these lists, one run a system, and `first`
    the place of each pair's first hit in its run. `known` are the pairs whose steps are known. One entry of `call_pair`
    and `call_end` is a retrieval call: its pair, and the rank of its last hit in that list. `queries` and `repeated`
    count the calls of each pair that have a query, and those that stood before. `labels` name the units. `unmatchable`
    gives pairs whose gold the hits of the steps cannot show, with the reason.
    """

    judged: Judged
    runs: Sequence[Run]
    first: Ints
    known: Bools
    call_pair: Ints
    call_end: Ints
    queries: Ints
    repeated: Ints
    labels: Sequence[str]
    unmatchable: Mapping[int, str] = field(default_factory=dict)
    counts_tokens: bool = True  # not where unjudged hits are removed

    @cached_property
    def calls(self) -> Ints:
        """Retrieval calls of each pair."""
        return np.bincount(self.call_pair, minlength=len(self.known))

    @cached_property
    def _first_call(self) -> Ints:
        return np.cumsum(self.calls) - self.calls

    def end_of(self, call: int) -> Ints:
        """The rank at which the hits of each pair's first calls end, so many of them; 0 without calls."""
        last = np.minimum(self.calls, call)
        end: Ints = np.append(self.call_end, 0)[np.maximum(self._first_call + last - 1, 0)]
        return np.where(last > 0, end, 0)

    def recall(self, rel: int, end: Ints | None = None) -> Floats:
        """Share of the relevant units among the hits of all calls, or down to a rank of each pair."""
        view = self.judged.at(rel=rel)
        recall: Floats = view.found_within(end) / view.relevant
        return recall

    def gained(self, rel: int) -> Ints:
        """Relevant units that each call brings and no call before it did."""
        hits = self.judged.at(rel=rel).hits
        ends = self.call_pair * _WIDE + self.call_end
        call = np.searchsorted(ends, hits.pair * _WIDE + hits.rank)
        return np.bincount(call, hits.units, minlength=len(ends)).astype(np.int64)

    def tokens_to_gold(self, rel: int) -> tuple[Ints, Ints, list[int | None]]:
        """Pairs with a relevant hit, its rank, and the tokens down to it; None where those of a hit are unknown."""
        view, width = self.judged.at(rel=rel), len(self.judged.questions)
        first = view.hit_number == 1
        pairs, ranks = view.hits.pair[first], view.hits.rank[first]
        totals: list[int | None] = []
        for pair, rank in zip(pairs.tolist(), ranks.tolist(), strict=True):
            run, begin = self.runs[pair // width], int(self.first[pair])
            sizes = [hit_tokens(run, hit) for hit in range(begin, begin + rank)]
            totals.append(None if None in sizes else sum(size for size in sizes if size is not None))
        return pairs, ranks, totals
