"""A server that keeps runs as an MLflow tracking server does, in memory."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class TrackingServer:
    """Takes `most` requests, then refuses each; keeps everything that was sent, and the headers of the last request."""

    def __init__(self, artifacts="mlflow-artifacts:/1"):
        self.runs, self.files, self.sent, self.most, self.headers = {}, {}, [], None, {}
        self.artifacts, self.experiments = artifacts, {}

    def reply(self, path, body):
        """Status and content."""
        if self.most is not None and len(self.sent) > self.most:
            return 400, {"error_code": "BAD_REQUEST", "message": "no more"}
        url = urlsplit(path)
        if "/mlflow-artifacts/artifacts/" in url.path:
            self.files[url.path.partition("/artifacts/")[2]] = body
            return 200, {}
        asked = json.loads(body) if body else {}
        run = self.runs.get(asked.get("run_id"), {})
        action = url.path.partition("/api/2.0/mlflow/")[2]
        if action == "experiments/get-by-name":
            name = parse_qs(url.query)["experiment_name"][0]
            if name not in self.experiments:
                return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": f"no experiment {name}"}
            return 200, {"experiment": {"experiment_id": "1", "lifecycle_stage": self.experiments[name]}}
        if action == "experiments/create":
            self.experiments[asked["name"]] = "active"
            return 200, {"experiment_id": "1"}
        if action == "runs/search":
            return 200, {"runs": [run for run in self.runs.values() if not run["deleted"]]}
        if action == "runs/create":
            number = f"r{len(self.runs)}"
            info = {"run_id": number, "start_time": asked["start_time"], "artifact_uri": f"{self.artifacts}/{number}"}
            info |= {"status": "RUNNING", "run_name": asked["run_name"]}
            data = {"tags": asked["tags"], "metrics": {}, "params": {}}
            self.runs[number] = {"info": info, "data": data, "deleted": False}
            return 200, {"run": self.runs[number]}
        if action == "runs/log-batch":
            for kind in ("metrics", "params"):
                run["data"][kind] |= {one["key"]: one["value"] for one in asked.get(kind, ())}
        elif action == "runs/set-tag":
            others = [tag for tag in run["data"]["tags"] if tag["key"] != asked["key"]]
            run["data"]["tags"] = [*others, {"key": asked["key"], "value": asked["value"]}]
        elif action == "runs/update":
            run["info"]["status"] = asked["status"]
        elif action == "runs/delete":
            run["deleted"] = True
        else:
            return 404, "<html>nothing here</html>"
        return 200, {}

    def tags(self, run):
        return {tag["key"]: tag["value"] for tag in run["data"]["tags"]}

    @property
    def active(self):
        """The runs that are not deleted, by name."""
        return {run["info"]["run_name"]: run for run in self.runs.values() if not run["deleted"]}

    @contextmanager
    def running(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                server.sent.append((self.command, self.path, body))
                server.headers = dict(self.headers)
                status, content = server.reply(self.path, body)
                written = (content if isinstance(content, str) else json.dumps(content)).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(written)))
                self.end_headers()
                self.wfile.write(written)

            do_GET = do_PUT = do_POST  # noqa: N815

            def log_message(self, *_):
                pass

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_address[1]}"
        finally:
            http.shutdown()
            thread.join()
            http.server_close()
