"""The guard: no other page, name, user or path reaches the runs."""

import asyncio
import json

import pytest
from viewed import HOST, PORT, Browser

from karat.web import guard as guard_module
from karat.web.guard import HEADERS, MOST_BODY, Guard, GuardSettings

ORIGIN = ("origin", f"http://{HOST}")


@pytest.fixture
def browser(tmp_path):
    return Browser(tmp_path)


def test_who_knows_the_token_gets_the_page(browser):
    assert browser.get("/").status == 200


def test_localhost_is_this_server_too(browser):
    assert browser.get("/", host=f"localhost:{PORT}").status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.test", f"evil.test:{PORT}", "127.0.0.1", "127.0.0.1:8601", f"127.0.0.1:{PORT}.evil.test", f"[::1]:{PORT}",
     f"127.0.0.1.:{PORT}", f"127.0.0.1:{PORT} ", f"x@127.0.0.1:{PORT}", f"2130706433:{PORT}", f"0.0.0.0:{PORT}", "",
     None, [HOST, HOST], [HOST, "evil.test"]],
)  # fmt: skip
def test_another_name_is_refused_before_the_token_is_looked_at(browser, host):
    reply = browser.get(f"/?token={browser.guard.token}", host=host, token=False)
    assert reply.status == 421
    assert reply.header("set-cookie") is None


def test_an_ipv6_address_is_asked_for_in_brackets(tmp_path):
    browser = Browser(tmp_path, guard=GuardSettings(port=PORT, names=("::1",)))
    assert browser.get("/", host=f"[::1]:{PORT}").status == 200
    assert browser.get("/", host=f"::1:{PORT}").status == 421


def test_browsers_leave_out_the_port_of_http():
    assert GuardSettings(port=80).hosts == {"127.0.0.1:80", "localhost:80", "127.0.0.1", "localhost"}
    assert GuardSettings(port=81).hosts == {"127.0.0.1:81", "localhost:81"}


@pytest.mark.parametrize(
    "origin",
    ["null", f"http://{HOST}.evil.test", "http://evil.test", f"https://{HOST}", f"http://localhost:{PORT}",
     f"http://{HOST}/", "http://127.0.0.1", f"HTTP://{HOST}", ""],
)  # fmt: skip
def test_another_page_reads_nothing(browser, origin):
    assert browser.get("/api/runs", headers=[("origin", origin)]).status == 403
    assert browser.get("/api/runs", headers=[ORIGIN]).status == 200
    assert browser.get("/api/runs", headers=[ORIGIN, ("origin", origin)]).status == 403


@pytest.mark.parametrize(
    ("site", "mode", "status"),
    [("cross-site", "navigate", 403), ("cross-site", "no-cors", 403), ("same-site", "no-cors", 403),
     ("same-site", "navigate", 200), ("same-origin", "cors", 200), ("none", "navigate", 200), ("odd", "cors", 403)],
)  # fmt: skip
def test_a_browser_says_where_a_request_comes_from(browser, site, mode, status):
    assert browser.get("/", headers=[("sec-fetch-site", site), ("sec-fetch-mode", mode)]).status == status


@pytest.mark.parametrize(("dest", "status"), [("document", 200), ("iframe", 403), ("object", 403)])
def test_another_page_of_this_machine_may_link_here_and_not_frame(browser, dest, status):
    came = [("sec-fetch-site", "same-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", dest)]
    assert browser.get("/", headers=came).status == status


def test_the_token_comes_once_by_the_address_and_stays_in_a_cookie(browser):
    token = browser.guard.token
    reply = browser.get(f"/run/x/questions?kind=a&token={token}&kind=b%20c", token=False)
    assert (reply.status, reply.header("location")) == (303, "/run/x/questions?kind=a&kind=b+c")
    assert reply.header("set-cookie") == f"karat_{PORT}={token}; HttpOnly; SameSite=Strict; Path=/"
    assert token not in reply.header("location")


@pytest.mark.parametrize("target", ["/", "/?token=", "/?token=x", "/?token={t}x", "/?token={t}&token={t}", "/api/runs"])
def test_nobody_else_sees_anything(browser, target):
    reply = browser.get(target.format(t=browser.guard.token), token=False)
    assert reply.status == 401
    assert "karat view" in reply.text
    assert reply.header("set-cookie") is None
    assert browser.guard.token not in reply.text


def test_a_code_for_the_browser_stands_for_the_token_once(browser):
    code = browser.guard.for_once()
    assert code != browser.guard.token
    reply = browser.get(f"/?token={code}", token=False)
    assert (reply.status, reply.header("location")) == (303, "/")
    assert browser.guard.token in reply.header("set-cookie")
    assert browser.get(f"/?token={code}", token=False).status == 401
    assert browser.get("/api/runs", token=False, headers=[("x-karat-token", browser.guard.for_once())]).status == 401


def test_a_wrong_token_in_the_address_is_refused_whatever_the_cookie(browser):
    assert browser.get("/?token=x").status == 401


def test_the_api_takes_the_token_as_a_header(browser):
    token = browser.guard.token
    assert browser.get("/api/runs", token=False, headers=[("x-karat-token", token)]).status == 200
    assert (
        browser.get("/api/runs", token=False, headers=[("x-karat-token", "ü"), ("x-karat-token", token)]).status == 401
    )


def test_a_cookie_of_the_same_name_that_another_program_set_does_no_harm(browser):
    own = f"karat_{PORT}"
    assert browser.get("/", token=False, headers=[("cookie", f"{own}=x; {own}={browser.guard.token}")]).status == 200
    assert browser.get("/", token=False, headers=[("cookie", f"x{own}={browser.guard.token}; {own}")]).status == 401


def test_tokens_are_compared_in_constant_time(monkeypatch):
    compared = []
    monkeypatch.setattr(guard_module.secrets, "compare_digest", lambda a, b: compared.append((a, b)) or a == b)
    settings = GuardSettings(port=1, token="right")
    assert settings.is_token("right")
    assert not settings.is_token("wröng")
    assert compared == [(b"right", b"right"), ("wröng".encode(), b"right")]


def test_tokens_are_long_and_not_shown():
    one, other = GuardSettings(port=1), GuardSettings(port=1)
    assert len(one.token) >= 43
    assert one.token != other.token
    assert one.token not in repr(one)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get"])
def test_other_methods_are_refused(browser, method):
    assert browser.ask(method, "/").status == 405


def test_head_has_no_body(browser):
    whole, head = browser.get("/"), browser.ask("HEAD", "/")
    assert (head.status, head.header("content-length")) == (200, whole.header("content-length"))
    assert browser.ask("HEAD", "/nothing/here", token=False).body == b""


@pytest.mark.parametrize(
    "path",
    ["/run/../x", "/run/%2e%2e/x", "/run/%2E%2E", "/run/..%2fx", "/run/a%2fb", "/run/a%5cb", "/run/a%00b",
     "//evil.test", "/run//x", "/./run", "/run/%ff%fe", "run/x", "/assets/..%2f..%2fpage.html",
     "/assets/%2e%2e/templates/page.html"],
)  # fmt: skip
def test_a_path_that_means_another_place_is_refused(browser, path):
    assert browser.get(path).status == 400
    assert browser.get(f"{path}?token={browser.guard.token}", token=False).status == 400


@pytest.mark.parametrize(
    "path", ["/run/%252e%252e", "/assets/page.html", "/assets/served.html", "/run/etc", "/run/%2A"]
)
def test_what_names_nothing_is_not_found(browser, path):
    assert browser.get(path).status == 404


def test_an_address_may_not_be_endless(browser):
    assert browser.get(f"/?text={'a' * guard_module.MOST_QUERY}").status == 400
    assert browser.get(f"/?{'&' * 8_000}").status == 400


@pytest.mark.parametrize(
    "target", ["/", "/api/runs", "/nothing", "/api/run/x", "/run/..", "/assets/dom.js", "/compare"]
)
@pytest.mark.parametrize("token", [True, False])
def test_the_policy_stands_on_every_answer(browser, target, token):
    reply = browser.get(target, token=token)
    assert {name: reply.header(name) for name in HEADERS} == HEADERS
    expected = "no-cache" if reply.status == 200 and target.startswith("/assets") else "no-store"
    assert reply.header("cache-control") == expected


@pytest.fixture
def writing():
    """A guard in front of an application that answers how long a body is."""

    async def app(scope, receive, send):
        message = await receive()
        assert not message["more_body"]
        body = str(len(message["body"])).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"Content-Security-Policy", b"none")]})
        await send({"type": "http.response.body", "body": body})

    class Writing(Browser):
        def __init__(self):
            self.guard = GuardSettings(port=PORT)
            self.app = Guard(app, self.guard)

    return Writing()


def test_writing_needs_an_origin_json_and_the_token(writing):
    assert writing.post("/x", b"12345").body == b"5"
    assert writing.ask("POST", "/x", headers=[("content-type", "application/json")]).status == 403
    assert writing.post("/x", token=False).status == 401
    assert writing.ask("POST", f"/x?token={writing.guard.token}", token=False, headers=[ORIGIN]).status == 401


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "application/jsonx",
             "application/json; charset=utf-7", "text/plain, application/json"],
)  # fmt: skip
def test_forms_and_plain_texts_are_not_taken(writing, kind):
    assert writing.ask("POST", "/x", headers=[ORIGIN, ("content-type", kind)]).status == 415
    assert writing.ask("POST", "/x", headers=[ORIGIN]).status == 415


def test_utf8_may_be_named(writing):
    kind = ("content-type", "Application/JSON; charset=UTF-8")
    assert writing.ask("POST", "/x", headers=[ORIGIN, kind], body=b"{}").status == 200


def test_a_body_of_two_megabytes_is_refused_whether_it_says_so_or_not(writing):
    said = [("content-length", str(2 << 20))]
    assert writing.post("/x", b"", headers=said).status == 413
    piece = b"a" * (MOST_BODY // 2)
    assert writing.post("/x", pieces=[piece, piece]).body == str(MOST_BODY).encode()
    assert writing.post("/x", pieces=[piece, piece, b"a"]).status == 413


@pytest.mark.parametrize(
    "headers",
    [[("content-length", "2"), ("content-length", "3")], [("content-length", "2"), ("transfer-encoding", "chunked")],
     [("content-length", "-1")], [("content-length", "+2")], [("content-length", "²")], [("content-length", "9" * 40)]],
)  # fmt: skip
def test_a_request_says_once_how_long_it_is(writing, headers):
    assert writing.post("/x", headers=headers).status == 400


def test_a_body_that_ends_early_is_refused(writing):
    sent, messages = [], [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
    own = [("host", HOST), ORIGIN, ("content-type", "application/json"), ("x-karat-token", writing.guard.token)]
    scope = {"type": "http", "method": "POST", "path": "/x", "query_string": b"",
             "headers": [(a.encode(), b.encode()) for a, b in own]}  # fmt: skip

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(writing.app(scope, receive, send))
    assert sent[0]["status"] == 400


def test_an_application_cannot_loosen_the_policy(writing):
    assert writing.post("/x").header("content-security-policy") == HEADERS["content-security-policy"]


def test_a_bug_is_said_without_its_details(capsys):
    async def app(scope, receive, send):
        raise RuntimeError("secret")

    class Broken(Browser):
        def __init__(self):
            self.guard = GuardSettings(port=PORT)
            self.app = Guard(app, self.guard)

    reply = Broken().get("/api/x")
    assert (reply.status, reply.json["error"]) == (500, "an internal error of karat, which is a bug")
    assert "secret" not in reply.text
    assert "secret" in capsys.readouterr().err


def test_web_sockets_are_closed(browser):
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(browser.app, browser.guard)({"type": "websocket"}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_an_error_has_the_form_of_what_was_asked(browser):
    page, api = browser.get("/nothing"), browser.get("/api/nothing")
    assert page.header("content-type").startswith("text/html")
    assert json.loads(api.text) == {"error": "there is nothing at this address", "remedy": ""}
    assert (page.status, api.status) == (404, 404)
