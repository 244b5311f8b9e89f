"""What tests of models share: no proxy and no key of the user's, and a client for a chat server."""

import pytest

from karat.models.chat import Calls, Chat, ChatSettings


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def calls(tmp_path):
    with Calls(tmp_path / "calls.sqlite") as opened:
        yield opened


@pytest.fixture
def client():
    """A chat client of a FakeLLM or an address."""

    def make(llm, calls, budget=None, *, progress=None, announce=None, first_wait=0.001, **settings):
        url = llm if isinstance(llm, str) else llm.base_url
        chosen = ChatSettings("fake", **{"base_url": url, "retries": 2, "timeout_seconds": 30.0, **settings})
        return Chat(chosen, calls, budget, progress, announce=announce, first_wait_seconds=first_wait)

    return make
