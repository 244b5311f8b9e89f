"""FakeLLM by plain HTTP, without karat's client: what users may rely on."""

import http.client
import json
import threading
import urllib.error
import urllib.request

import pytest

from karat.testing import BatchScript, FakeLLM, Fault

BODY = {"model": "m", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "12345"}]}


def post(llm, body=BODY, timeout=10, path="/chat/completions"):
    """The status, headers and content of one request."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(llm.base_url + path, data, {"Authorization": "Bearer s3cret"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=timeout) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def said(llm, text="x", **more):
    return text_of(post(llm, {**BODY, "messages": [{"role": "user", "content": text}], **more})[2])


def text_of(content):
    return json.loads(content)["choices"][0]["message"]["content"]


def test_a_reply_in_the_wire_format():
    with FakeLLM("Hello there") as llm:
        status, headers, content = post(llm)
        assert (status, headers["Content-Type"]) == (200, "application/json")
        found = json.loads(content)
        assert (found["object"], found["model"]) == ("chat.completion", "m")
        assert found["choices"] == [
            {"index": 0, "message": {"role": "assistant", "content": "Hello there"}, "finish_reason": "stop"}
        ]
        assert found["usage"] == {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
        (request,) = llm.requests
        assert (request.system, request.user, request.attempt, request.body) == ("Be brief.", "12345", 1, BODY)
        assert (request.answered, request.fault, request.reply) == (True, None, "Hello there")
        assert request.headers["Authorization"] == "Bearer s3cret"
        assert "s3cret" not in repr(request)
        assert llm.count == 1


def test_the_models():
    with FakeLLM() as llm, urllib.request.urlopen(f"{llm.base_url}/models") as response:
        assert [model["id"] for model in json.loads(response.read())["data"]] == ["fake"]


def test_replies_by_function_and_in_order():
    with FakeLLM(lambda request: request.user.upper()) as llm:
        assert said(llm, "abc") == "ABC"
    with FakeLLM(["one", Fault("server_error"), "two"]) as llm:
        assert said(llm) == "one"
        assert post(llm)[0] == 500
        assert [said(llm), said(llm)] == ["two", "two"]
    with FakeLLM(lambda request: Fault("too_many") if request.attempt == 1 else "ok") as llm:
        assert [post(llm)[0], post(llm)[0]] == [429, 200]


def test_max_tokens_cut_a_reply():
    with FakeLLM("12345678") as llm:
        content = post(llm, {**BODY, "max_tokens": 1})[2]
        assert (text_of(content), json.loads(content)["choices"][0]["finish_reason"]) == ("1234", "length")
        assert said(llm, max_completion_tokens=2) == "12345678"


@pytest.mark.parametrize(
    ("kind", "status"),
    [("too_many", 429), ("server_error", 500), ("bad_request", 400), ("unauthorized", 401), ("not_found", 404)],
)
def test_faults_with_a_status(kind, status):
    with FakeLLM(faults={Fault(kind, message="words", retry_after=7): 1.0}) as llm:
        code, headers, content = post(llm)
        assert code == status
        assert json.loads(content)["error"]["message"] == "words"
        assert headers.get("Retry-After") == ("7" if kind == "too_many" else None)
        assert post(llm)[0] == 200  # gone at the next attempt
        assert [request.answered for request in llm.requests] == [False, True]


def test_faults_of_the_body():
    def content(kind):
        with FakeLLM('{"a": [1, 2]}', {kind: 1.0}) as llm:
            return post(llm)[2]

    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(content("invalid_json"))
    assert "choices" not in json.loads(content("not_chat"))
    assert text_of(content("empty")) == ""
    assert len(content("huge")) > 10_000_000
    assert text_of(content("prose")).count('{"a": [1, 2]}') == 1
    assert not text_of(content("prose")).startswith("{")
    assert text_of(content("broken_json")) == '{"a": '
    assert "a" not in json.loads(text_of(content("wrong_schema")))
    assert "suomeksi" in text_of(content("other_language"))
    with pytest.raises(http.client.IncompleteRead):
        content("half")


@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_faults_without_an_end(kind):
    with FakeLLM(faults={Fault(kind, None): 1.0}) as llm:
        if kind == "hang":
            with pytest.raises(TimeoutError):
                post(llm, timeout=0.1)
        else:
            port = int(llm.base_url.rpartition(":")[2].partition("/")[0])
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("POST", "/v1/chat/completions", json.dumps(BODY))
            response = connection.getresponse()
            assert [response.read(1) for _ in range(3)] == [b" "] * 3
            connection.close()
    threads = [thread for thread in threading.enumerate() if "serve_forever" in thread.name]
    assert threads == []


def test_which_requests_get_a_fault_depends_on_them_alone():
    texts = [f"question {n}" for n in range(100)]

    def faulty(order, seed):
        with FakeLLM(faults=0.3, seed=seed) as llm:
            for text in order:
                try:
                    said(llm, text)
                except (KeyError, ValueError, http.client.IncompleteRead):
                    continue
            return {(request.user, request.fault) for request in llm.requests if request.fault}

    first = faulty(texts, 0)
    assert 15 <= len(first) <= 45
    assert {fault.kind for _, fault in first} == {"too_many", "server_error", "half", "invalid_json", "empty"}
    assert faulty(texts[::-1], 0) == first
    assert faulty(texts, 1) != first


def test_a_fault_lasts_as_long_as_told():
    with FakeLLM(faults={Fault("server_error", times=2): 1.0}) as llm:
        assert [post(llm)[0] for _ in range(3)] == [500, 500, 200]
        assert [request.attempt for request in llm.requests] == [1, 2, 3]
    with FakeLLM(faults={Fault("server_error", times=None): 1.0}) as llm:
        assert {post(llm)[0] for _ in range(4)} == {500}
    with FakeLLM(faults=lambda request: Fault("bad_request") if "5" in request.user else None) as llm:
        assert post(llm)[0] == 400


def test_requests_that_are_none():
    with FakeLLM() as llm:
        assert post(llm, b"{")[0] == 400
        assert post(llm, b"[1]")[0] == 400
        assert post(llm, path="/embeddings")[0] == 404
        assert llm.count == 0
        assert post(llm, {"messages": "none"})[0] == 200
        assert llm.requests[0].messages == []


def test_a_function_that_fails_is_heard_of():
    with FakeLLM(lambda request: request.nothing) as llm:
        status, _, content = post(llm)
        assert status == 400
        assert b"The function of the test failed: AttributeError" in content


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Fault("explode"), "unknown fault 'explode'; there are too_many, server_error"),
        (lambda: Fault("half", times=0), "at least once, found times=0"),
        (lambda: FakeLLM(faults=1.5), "sum to 1 at most"),
        (lambda: FakeLLM(faults={"half": -0.1}), "0 or more"),
        (lambda: FakeLLM([]), "at least one reply"),
    ],
    ids=["kind", "times", "share", "negative", "no reply"],
)
def test_what_cannot_be(make, told):
    with pytest.raises(ValueError, match=told):
        make()


def test_outside_its_block_there_is_no_server():
    with pytest.raises(RuntimeError, match="within its with block"):
        _ = FakeLLM().base_url


def upload(llm, lines):
    """The id of a file of requests, sent as a form by hand."""
    file = "".join(json.dumps(line) + "\n" for line in lines)
    parts = f'--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\nContent-Type: application/jsonl\r\n\r\n{file}\r\n--x--\r\n'  # noqa: E501
    request = urllib.request.Request(
        llm.base_url + "/files", parts.encode(), {"Content-Type": "multipart/form-data; boundary=x"}
    )
    with urllib.request.urlopen(request) as response:
        return json.loads(response.read())["id"]


def get(llm, path):
    with urllib.request.urlopen(llm.base_url + path) as response:
        return response.read()


def test_a_batch_in_the_wire_format():
    script = BatchScript(("validating", "in_progress"), end="expired", answered=0.5)
    bodies = [{**BODY, "messages": [{"role": "user", "content": f"question {n}"}]} for n in range(4)]
    lines = [
        {"custom_id": f"r{n}", "method": "POST", "url": "/v1/chat/completions", "body": b} for n, b in enumerate(bodies)
    ]
    with FakeLLM("yes", lambda r: Fault("bad_request") if r.user == "question 1" else None, batches=script) as llm:
        wanted = {"input_file_id": upload(llm, lines), "endpoint": "/v1/chat/completions", "completion_window": "24h"}
        status, _, content = post(llm, {**wanted, "metadata": {"name": "mine"}}, path="/batches")
        created = json.loads(content)
        assert (status, created["object"], created["status"]) == (200, "batch", "validating")
        assert [batch["id"] for batch in json.loads(get(llm, "/batches?limit=5"))["data"]] == [created["id"]]
        looks = [json.loads(get(llm, f"/batches/{created['id']}")) for _ in range(3)]
        assert [look["status"] for look in looks] == ["validating", "in_progress", "expired"]
        assert looks[2]["request_counts"] == {"total": 4, "completed": 1, "failed": 1}
        assert looks[2]["metadata"] == {"name": "mine"}
        output = [json.loads(line) for line in get(llm, f"/files/{looks[2]['output_file_id']}/content").splitlines()]
        errors = [json.loads(line) for line in get(llm, f"/files/{looks[2]['error_file_id']}/content").splitlines()]
        assert [line["custom_id"] for line in output] == ["r0"]
        assert output[0]["response"]["body"]["choices"][0]["message"]["content"] == "yes"
        assert [line["custom_id"] for line in errors] == ["r1", "r2", "r3"]
        assert errors[0]["response"]["status_code"] == 400
        assert [line["error"]["code"] for line in errors[1:]] == ["batch_expired"] * 2
        assert [request.user for request in llm.paid] == ["question 0"]
        assert post(llm, b"{}", path="/nothing")[0] == 404
