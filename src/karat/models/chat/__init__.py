"""A chat model behind an OpenAI-compatible endpoint: limits, retries, a hard budget, and every reply kept."""

from karat.models.chat.budget import ChatSpending, CostEstimate, estimate
from karat.models.chat.cache import Call, Calls, FailedCall
from karat.models.chat.client import Chat
from karat.models.chat.settings import Budget, ChatSettings

__all__ = [
    "Budget",
    "Call",
    "Calls",
    "Chat",
    "ChatSettings",
    "ChatSpending",
    "CostEstimate",
    "FailedCall",
    "estimate",
]
