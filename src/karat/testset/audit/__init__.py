"""The audit: how good a test set is, whoever made it. No model is asked."""

from karat.testset.audit._audit import audit

__all__ = ["audit"]
