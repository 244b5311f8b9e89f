"""What the scripts of the gallery share: the texts of a small island, static word vectors, the plainest search."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import wordllama

documents = {file.name: file.read_text().strip() for file in sorted(Path(__file__).parent.glob("corpus/*.txt"))}
_model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)


def embed(texts):
    """A vector of length 1 for each text."""
    return _model.embed(list(texts), norm=True).tolist()


def embed_one(text):
    """The vector of one text."""
    return embed([text])[0]


def search(question, k):
    """The names of the k documents nearest to a question, best first."""
    scores = np.array(embed(documents.values())) @ embed_one(question)
    return [list(documents)[place] for place in np.argsort(-scores)[:k]]


def serve():
    """Start a service on this machine that searches; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"hits": search(asked["question"], asked["k"])}).encode())

        def log_message(self, *_):
            pass

    service = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=service.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{service.server_port}/search"
