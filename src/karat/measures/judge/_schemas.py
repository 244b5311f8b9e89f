"""What judges reply: pydantic models. Import this inside functions, since pydantic takes long to import."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

MOST_CLAIMS = 40  # twice what the prompt asks for
_REASON = 600  # characters of a reason that are kept
_CLAIM = 500


def _line(limit: int) -> BeforeValidator:
    """Text as one line, cut; what is no text is left for the schema to refuse."""

    def cut(value: Any) -> Any:
        return " ".join(value.split())[:limit] if isinstance(value, str) else value

    return BeforeValidator(cut)


def _word(value: Any) -> Any:
    return value.strip().lower().replace(" ", "_") if isinstance(value, str) else value


def _filled(claim: str) -> str:
    """A claim that is more than what the form of the prompt holds in its place."""
    if claim.startswith("<") and claim.endswith(">"):
        raise ValueError("a claim is missing where the form says what to fill in")
    return claim


Reason = Annotated[str, _line(_REASON)]
Claim = Annotated[str, _line(_CLAIM), AfterValidator(_filled)]
Word = BeforeValidator(_word)


class JudgeReply(BaseModel):
    """An object in a reply: further keys are let be, a value of another kind is refused."""

    model_config = ConfigDict(strict=True, extra="ignore")


class Claims(JudgeReply):
    """A text in its claims."""

    claims: list[Claim] = Field(max_length=MOST_CLAIMS)


class NumberedReply(JudgeReply):
    """What is said of a claim, by its number."""

    claim: int = Field(ge=1, le=MOST_CLAIMS)
    reason: Reason = ""


class ClaimVerdict(NumberedReply):
    """What the contexts say of a claim."""

    contexts: list[Annotated[int, Field(ge=1)]] = Field(default_factory=list, max_length=200)
    verdict: Annotated[Literal["supported", "contradicted", "not_found"], Word]


class Verdicts(JudgeReply):
    """What the contexts say of each claim of an answer."""

    verdicts: list[ClaimVerdict] = Field(max_length=MOST_CLAIMS)


class GradedVerdict(NumberedReply):
    """What the contexts say of a claim that they may hold in part."""

    verdict: Annotated[Literal["supported", "partial", "contradicted", "not_found"], Word]


class GradedVerdicts(JudgeReply):
    """What the contexts say of each claim, which they may hold in part."""

    verdicts: list[GradedVerdict] = Field(max_length=MOST_CLAIMS)


class SentenceMark(NumberedReply):
    """Whether a sentence of a passage is marked."""

    verdict: Annotated[Literal["yes", "no"], Word]


class SentenceMarks(JudgeReply):
    """Which sentences of a passage are marked."""

    verdicts: list[SentenceMark] = Field(max_length=MOST_CLAIMS)


class ClaimCoverage(NumberedReply):
    """Whether an answer says what a claim of the reference says."""

    verdict: Annotated[Literal["covered", "contradicted", "missing"], Word]


class Coverages(JudgeReply):
    """Whether an answer says what each claim of the reference says."""

    verdicts: list[ClaimCoverage] = Field(max_length=MOST_CLAIMS)


class ContextGrade(JudgeReply):
    """How far a context helps to answer a question."""

    reason: Reason
    grade: Annotated[Literal["answers", "helps", "related", "unrelated"], Word]


class AnswerGrade(JudgeReply):
    """How far an answer answers what was asked."""

    reason: Reason
    grade: Annotated[Literal["fully", "mostly", "barely", "not"], Word]


class SufficiencyGrade(JudgeReply):
    """Whether contexts hold enough to answer a question."""

    reason: Reason
    grade: Annotated[Literal["sufficient", "insufficient"], Word]


class LiveRagGrade(JudgeReply):
    """LiveRAG's relevance of an answer."""

    reason: Reason
    grade: int = Field(ge=-1, le=2)
