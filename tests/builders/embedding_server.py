"""A server of embeddings on this machine, which answers as it is told."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server:
    """Answers each request by the next of `answers`, the last one again and again; keeps what was asked."""

    def __init__(self, *answers):
        self.answers, self.asked, self.headers = list(answers), [], []

    @contextmanager
    def running(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append((self.path, body))
                server.headers.append(dict(self.headers))
                answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
                answer(self, body)

            def log_message(self, *_):
                pass

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_address[1]}/v1"
        finally:
            http.shutdown()
            thread.join()
            http.server_close()


def send(status, content, **headers):
    def answer(handler, _):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def vectors(change=lambda data: data):
    """The right answer: a text of n letters is the vector (n, 1); `change` makes it wrong."""

    def answer(handler, body):
        data = [{"index": i, "embedding": [len(text), 1]} for i, text in enumerate(body["input"])]
        send(200, {"data": change(data)})(handler, body)

    return answer


def slow(seconds):
    def answer(handler, body):
        time.sleep(seconds)
        vectors()(handler, body)

    return answer
