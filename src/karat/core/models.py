"""Means: what measures and answerers may ask for help: a chat model, an embedder, a cross-encoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from karat.core.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from karat.core.answered import AnswerTable
    from karat.core.asked import AnswerRequest
    from karat.core.claims import ClaimTable, Relation
    from karat.core.measure import Measure
    from karat.core.scores import MeasureResult
    from karat.core.types import Answer


@dataclass(frozen=True)
class Prompt:
    """What a chat model is asked. `turns` follow the user's message, assistant and user in turn.

    `sample` tells apart calls that are to be made anew though they say the same (0, 1, 2 ...). `purpose` is a few
    words for progress, the cache and the bill ("answer", "judge Faithfulness"); it is not sent.
    """

    user: str
    system: str = ""
    _: KW_ONLY
    turns: tuple[str, ...] = ()
    sample: int = 0
    max_tokens: int | None = None  # in place of the client's
    json: bool = False  # whether the reply is to be a JSON object
    purpose: str = ""


@dataclass(frozen=True)
class ChatReply:
    """What a chat model said, or why it said nothing. Unknown numbers are None, never 0.

    `cut`: the reply ended for want of tokens. `cached`: it was paid for before, at the cost shown.
    """

    text: str | None = None
    _: KW_ONLY
    error: str | None = None
    model: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    cut: bool = False
    cached: bool = False


class ChatModel(Protocol):
    """A chat model that is ready to use. A prompt that fails after its retries has an `error`; the rest go on."""

    @property
    def label(self) -> str:
        """The model, as reports name it."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever replies may change."""
        ...

    def ask(self, prompts: Sequence[Prompt], said: Callable[[int, ChatReply], None] | None = None) -> list[ChatReply]:
        """What it says to each prompt, in their order. `said` is called with the number of each as it is done."""
        ...


class EmbeddingModel(Protocol):
    """An embedder that is ready to use, as `karat.models.Embedder`."""

    fingerprint: str

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> NDArray[np.float32]: ...


class PairScorer(Protocol):
    """A cross-encoder that is ready to use: one number for each pair of texts, higher is nearer."""

    def score(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]: ...


class PassageAnswerer(Protocol):
    """An answerer that is ready to use, as `karat.answer.Answerer`: `done` is called once for each question."""

    name: str
    fingerprint: str

    def answer(self, asked: Sequence[AnswerRequest], done: Callable[[AnswerRequest, Answer], None]) -> None: ...


Need = Literal["chat", "embedder", "cross_encoder"]


@dataclass(frozen=True, kw_only=True)
class Models:
    """What there is to be asked. Each is made when it is first called for; None: there is none.

    `embedder_label` names the embedder in reports. `repeat` is how often a judge is asked the same. `answerer` gives
    the answerer of a name, which asks these models and reads one context. `claims` makes the claims table of answers
    for the relations that measures need. `blocks` measures answers block by block, where a pool does that, and gives
    the results by the names of the measures that it took.
    """

    chat: ChatModel | None = None
    embedder: Callable[[], EmbeddingModel] | None = None
    cross_encoder: Callable[[], PairScorer] | None = None
    claims: Callable[[AnswerTable, Sequence[Relation]], ClaimTable] | None = None
    embedder_label: str = ""
    repeat: int = 1
    answerer: Callable[[str, Models], PassageAnswerer] | None = None
    blocks: Callable[[AnswerTable, Sequence[Measure]], Mapping[str, MeasureResult]] | None = None
    progress: Callable[[str, int, int], None] | None = None  # what is being done, how much of it, of how much

    def has(self, need: Need) -> bool:
        return getattr(self, need) is not None

    @property
    def able(self) -> tuple[Need, ...]:
        """The kinds of model that there are."""
        return tuple(need for need in get_args(Need) if self.has(need))

    def chat_for(self, who: str) -> ChatModel:
        """The chat model that `who` cannot do without."""
        if self.chat is None:
            raise UsageError(
                f"{who} asks a chat model, and none is named. Name one with --model (model=), and its endpoint with "
                "--base-url (base_url=)."
            )
        return self.chat
