"""Measures of my own."""


def politeness(answer: str) -> float:
    """1 if the answer says please or thank you."""
    return float("please" in answer.lower() or "thank" in answer.lower())
