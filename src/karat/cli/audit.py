"""karat audit: now karat testset check."""

from karat.cli.testset_check import command

__all__ = ["command"]
