"""The server: ports, names, the address it prints, and one that runs as a process until Ctrl-C."""

import asyncio
import http.client
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import parse_qs, urlsplit

import pytest
import uvicorn
from viewed import run_with, small_study

from karat.core.errors import UsageError
from karat.experiment.store import RunFolder
from karat.web import connection, server
from karat.web.guard import MOST_QUERY, GuardSettings

COMMAND = "import sys; from karat.cli.main import main; sys.argv[0] = 'karat'; main()"


def test_the_first_free_port_is_taken_and_a_named_one_must_be_free():
    first, _ = server.listen("127.0.0.1", None)
    with first:
        port = first.getsockname()[1]
        assert server.FIRST_PORT <= port < server.FIRST_PORT + server.TRIED
        second, _ = server.listen("127.0.0.1", None)
        with second:
            assert second.getsockname()[1] != port
        with pytest.raises(UsageError, match=f"--port {port} is taken by another program"):
            server.listen("127.0.0.1", port)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_is_a_number_of_a_port(port):
    with pytest.raises(UsageError, match="from 1 to 65535"):
        server.listen("127.0.0.1", port)


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7"])
def test_a_host_is_an_address_of_this_machine(host):
    with pytest.raises(UsageError, match=f"--host {host} is no address of this machine"):
        server.listen(host, None)


@pytest.mark.parametrize(
    ("host", "names"),
    [("127.0.0.1", ("127.0.0.1", "localhost")), ("localhost", ("127.0.0.1", "localhost")), ("::1", ("::1",)),
     ("127.0.0.2", ("127.0.0.1", "localhost", "127.0.0.2")), ("192.0.2.1", ("192.0.2.1",)), ("box", ("box",))],
)  # fmt: skip
def test_a_server_is_asked_by_its_own_names_alone(host, names):
    assert server.names_of(host) == names


def test_a_server_for_every_network_is_asked_by_the_names_of_this_machine(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "box")
    places = [(0, 0, 0, "", ("192.0.2.1", 0)), (0, 0, 0, "", ("fe80::1%eth0", 0, 0, 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *asked: places)
    assert server.names_of("0.0.0.0") == ("127.0.0.1", "localhost", "box", "192.0.2.1", "fe80::1", "0.0.0.0")


@pytest.mark.parametrize(
    ("host", "loopback"), [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True),
                           ("0.0.0.0", False),
                           ("192.0.2.1", False), ("box", False), ("localhost.evil.test", False)],
)  # fmt: skip
def test_what_only_this_machine_reaches(host, loopback):
    assert server.is_loopback(host) == loopback


def test_the_address_leads_to_what_was_asked_for(tmp_path):
    guard = GuardSettings(port=8600, token="T")
    runs = [RunFolder(tmp_path / name, {}) for name in ("a b", "c&d")]
    address = server.address_of
    assert address(guard, [], "127.0.0.1") == "http://127.0.0.1:8600/?token=T"
    assert address(guard, runs[:1], "127.0.0.1") == "http://127.0.0.1:8600/run/a%20b?token=T"
    assert address(guard, runs, "127.0.0.1") == "http://127.0.0.1:8600/compare?run=a%20b&run=c%26d&token=T"
    assert address(GuardSettings(port=1, token="T", names=("::1",)), [], "::1") == "http://[::1]:1/?token=T"


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", 0), ("0.0.0.0", 1)])
def test_other_machines_are_warned_of_and_a_browser_opens_where_there_is_a_screen(host, warned, tmp_path, monkeypatch):
    opened, sentences = [], []
    monkeypatch.setattr(server, "_run", lambda *given: None)
    monkeypatch.setattr(server, "_open", opened.append)
    for screen, wanted in ((True, True), (True, False), (False, True)):
        monkeypatch.setattr(server, "has_display", lambda screen=screen: screen)
        monkeypatch.setattr(server.threading, "Thread", AtOnce)
        server.serve(tmp_path, host=host, open_browser=wanted, notify=sentences.append)
    assert len(opened) == 1
    assert opened[0].partition("token=")[0] in sentences[0]
    assert opened[0] not in sentences[0]  # others of the machine see the arguments of a browser
    assert sum(sentence.startswith("warning: --host 0.0.0.0") for sentence in sentences) == 3 * warned


class AtOnce:
    def __init__(self, target, args, daemon):
        self.start = lambda: target(*args)


@pytest.mark.slow
def test_a_server_answers_two_browsers_until_ctrl_c_and_writes_nothing(tmp_path):
    run = run_with(tmp_path, small_study())
    before = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    command = [sys.executable, "-c", COMMAND, "view", "LAST", "--no-open", "--runs-dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            address = urlsplit(re.search(r"http://\S+", line)[0])
            assert address.path == f"/run/{run.id}"
            (token,) = parse_qs(address.query)["token"]
            browsers = [http.client.HTTPConnection(address.hostname, address.port, timeout=60) for _ in range(2)]
            for browser in browsers:
                browser.request("GET", f"/api/run/{run.id}/rows", headers={"X-Karat-Token": token})
            replies = [browser.getresponse() for browser in browsers]
            contents = [reply.read() for reply in replies]
            assert [reply.status for reply in replies] == [200, 200]
            assert contents[0] == contents[1]
            assert "server" not in {name.lower() for name, _ in replies[0].getheaders()}
            raw = socket.create_connection((address.hostname, address.port), timeout=60)
            raw.sendall(
                b"GET / HTTP/1.1\r\nHost: evil.test\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nabcd"
            )
            assert raw.recv(100).split()[1] in (b"400", b"421")
            raw.close()
            for browser in browsers:
                browser.close()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, err) == (0, "")
    assert token not in out
    assert {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()} == before


def test_what_reads_karat_yaml_is_loaded_when_a_run_is_tuned_and_not_before():
    code = "import sys, karat.web.app; print(sorted({'pydantic', 'karat.experiment.sweep'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.fixture
def patient(tmp_path, monkeypatch):
    """A server that waits .5 s for a request, and takes 1 s to answer one; where it listens."""
    started = []

    class Server(uvicorn.Server):
        def run(self, sockets):
            started.append(self)
            asyncio.run(self.serve(sockets))

    async def slow(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        await asyncio.sleep(1)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    monkeypatch.setattr(connection, "PATIENCE", 0.5)
    monkeypatch.setattr(uvicorn, "Server", Server)
    monkeypatch.setattr("karat.web.app.create_app", lambda settings: slow)
    listening, _ = server.listen("127.0.0.1", 0)
    thread = threading.Thread(target=server._run, args=(tmp_path, (), GuardSettings(0), listening), daemon=True)
    thread.start()
    yield listening.getsockname()
    started[0].should_exit = True
    thread.join(20)
    listening.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: 127",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HT",
    ],
)
def test_who_does_not_end_a_request_is_not_waited_for(patient, begun):
    with socket.create_connection(patient, timeout=20) as waiting:
        waiting.sendall(begun)
        while waiting.recv(1000):
            pass


def test_an_address_may_be_as_long_as_the_guard_lets_it(patient):
    with socket.create_connection(patient, timeout=20) as waiting:
        waiting.sendall(b"GET /?id=%s HTTP/1.1\r\nHost: a\r\n\r\n" % (b"a" * MOST_QUERY))
        assert waiting.recv(1000).startswith(b"HTTP/1.1 204")


def test_an_answer_may_take_longer_than_a_request(patient):
    with socket.create_connection(patient, timeout=20) as waiting:
        for piece in (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n", b"{}"):
            waiting.sendall(piece)
            time.sleep(0.1)
        assert waiting.recv(1000).startswith(b"HTTP/1.1 204")
