"""A judge of claims for FakeLLM that reads: a claim is a sentence, and held by a context that has all its words."""

import json
import re

SPLIT, VERIFY, MARK = "You prepare a text", "You check the claims", "You mark the numbered sentences"


def parts_of(request):
    """The fenced texts of a request by label."""
    found = re.findall(r"^<<<([^|>]+) \| (\w+)>>>\n(.*?)\n<<<end of \1 \| \2>>>", request.user, re.M | re.S)
    return {label: text for label, _, text in found}


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def claims_in(request):
    return [line.partition(". ")[2] for line in parts_of(request).get("claims", "").splitlines()]


def verdict(claim, contexts):
    held = words(" ".join(contexts))
    if f"not {claim.lower().rstrip('.')}" in " ".join(contexts).lower():
        return "contradicted"
    return "supported" if words(claim) <= held else "not_found"


def judge(request):
    """What the judge replies; a claim that has half of its words is partial where that may be said."""
    parts = parts_of(request)
    if request.system.startswith(SPLIT):
        return json.dumps({"claims": [s.strip() + "." for s in parts["text"].split(".") if s.strip()]})
    if request.system.startswith(MARK):
        lines = [line.partition(". ")[2] for line in parts["sentences"].splitlines()]
        beside = words(parts.get("answer") or parts["question"])
        marks = ["yes" if len(words(line) & beside) > 1 else "no" for line in lines]
        return json.dumps({"verdicts": [{"claim": n, "verdict": one} for n, one in enumerate(marks, 1)]})
    contexts = [text for label, text in parts.items() if label.startswith("context")]
    verdicts = []
    for number, claim in enumerate(claims_in(request), 1):
        said = verdict(claim, contexts)
        share = len(words(claim) & words(" ".join(contexts))) / max(1, len(words(claim)))
        if said == "not_found" and share >= 0.5 and "partial" in request.system:
            said = "partial"
        verdicts.append({"claim": number, "reason": f"share {share:.2f}", "verdict": said})
    return json.dumps({"verdicts": verdicts})


def asked_of(llm):
    """Every claim that was asked for a verdict, with its contexts, and whether the verdict might be partial."""
    pairs = []
    for request in llm.requests:
        if request.system.startswith(VERIFY):
            contexts = tuple(text for label, text in parts_of(request).items() if label.startswith("context"))
            pairs += [(claim, contexts, '"partial"' in request.system) for claim in claims_in(request)]
    return pairs
