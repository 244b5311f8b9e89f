"""The process that holds llama.cpp: reads what to serve from standard input, writes the address, ends with the input.

It is a process of its own because the native code keeps Python's lock while it loads, so that Ctrl-C would not come
through, and because what breaks there then breaks nothing else.
"""

from __future__ import annotations

import json
import os
import sys

SILENT, INFORMING = 0, 3


def main() -> None:
    """Serve until the process that started this one closes the pipe or ends."""
    import xllamacpp

    asked = json.loads(sys.stdin.readline())
    wanted = xllamacpp.CommonParams()
    wanted.model.path = asked["weights"]
    wanted.model_alias = {asked["name"]}
    wanted.hostnames, wanted.port = [asked["host"]], asked["port"]
    wanted.n_ctx, wanted.n_parallel = asked["context"] * asked["jobs"], asked["jobs"]
    wanted.ui = wanted.endpoint_slots = False  # the slots show what others ask
    wanted.cors_origins = ""  # no page in a browser may read replies
    wanted.verbosity = INFORMING if asked["verbose"] else SILENT
    server = xllamacpp.Server(wanted)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # the system frees the port and the memory, at once and also while a reply is being made


if __name__ == "__main__":
    main()
