"""What users need to test with karat: a chat server that runs on this machine and misbehaves on command."""

from karat.testing._faults import Fault
from karat.testing.fake_llm import FakeLLM, Request

__all__ = ["FakeLLM", "Fault", "Request"]
