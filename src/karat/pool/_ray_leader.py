"""The process that leads on a Ray cluster: it hands shards to workers, and what dies is done again elsewhere.

It is a process of its own, so that nothing Ray prints, starts or holds is in the user's; Ray ends what it does for a
process that ends. Shards with an owner go to one actor for each owner, the others are tasks.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import ray
from ray.exceptions import ActorDiedError, NodeDiedError, RayError, RayTaskError, TaskUnschedulableError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from karat.core.errors import KaratError, UsageError
from karat.io.writing import NO_ROOM
from karat.pool._local import ATTEMPTS
from karat.pool._ray_worker import Board, Owner, work
from karat.pool._replies import described
from karat.pool.process import Requests

MOVES = 20
"""How often a shard is begun again because its node went, which is no fault of the shard's."""
_WAIT = 0.5  # seconds between two looks at the board
_MORE = 2  # shards that wait at the workers, for each two that are done: enough that none is idle
_AN_OWNER = 2  # shards that an actor has at a time, one of them waiting
_PROBE_SECONDS = 120.0
_CONNECT_SECONDS = 10.0
_COUNTED_SECONDS = 2.0  # for which the nodes of the cluster are taken to be those that were there
_ERROR = re.compile(r"\w*(Error|Exception): (?!The remote function failed to import)")
_WORK = ray.remote(work)  # once: Ray sends each one that is made to the cluster


def serve() -> None:
    """Connect to the cluster, then do one task after another: what `RayPool` runs."""
    requests = Requests()
    first = requests.next()
    try:
        cluster = _Cluster(first)
        requests.reply(jobs=cluster.slots("search"))
    except Exception as problem:
        requests.reply(error=described(problem))
        return
    while True:
        asked = requests.next()
        try:
            cluster.probe(asked)
            for event in _Dispatch(cluster, asked).events():
                requests.reply(**event)
            requests.reply(done=True)
        except _Told as told:
            requests.reply(error=told.error)
        except Exception as problem:
            requests.reply(error=described(problem))


class _Cluster:
    """The cluster, and what a shard takes of it."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._jobs, self._resources = settings["jobs"], settings["resources"]
        _connect(settings["address"])
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self.board = ray.remote(num_cpus=0, scheduling_strategy=here)(Board).remote()
        self._probed: set[tuple[str, str]] = set()
        self._able: dict[str, tuple[float, dict[str, int]]] = {}

    def asked(self, kind: str) -> dict[str, float]:
        """What a shard of a kind of work takes, as users say it."""
        return {"cpu": 1.0, **self._resources.get(kind, {})}

    def options(self, kind: str) -> dict[str, Any]:
        """What a shard of a kind of work takes, as Ray wants to be told."""
        asked = self.asked(kind)
        more = {name: value for name, value in asked.items() if name not in ("cpu", "gpu", "memory_gb")}
        return {
            "num_cpus": asked["cpu"],
            "num_gpus": asked.get("gpu", 0),
            **({"memory": int(asked["memory_gb"] * 2**30)} if "memory_gb" in asked else {}),
            **({"resources": more} if more else {}),
        }

    def slots(self, kind: str) -> int:
        """How many shards of a kind of work the cluster is to do at a time now."""
        return int(self._jobs or max(1, sum(self.able(kind).values())))  # one waits for a node that can do it

    def able(self, kind: str) -> dict[str, int]:
        """The nodes that have what a shard of a kind of work takes, each with how many shards it can do at a time."""
        if kind not in self._able or time.monotonic() - self._able[kind][0] > _COUNTED_SECONDS:
            options = self.options(kind)
            wanted = {"CPU": options["num_cpus"], "GPU": options["num_gpus"], "memory": options.get("memory", 0)}
            wanted = {name: value for name, value in {**wanted, **options.get("resources", {})}.items() if value}
            slots = {
                node["NodeID"]: min(int(node["Resources"].get(name, 0) // value) for name, value in wanted.items())
                for node in ray.nodes()
                if node["Alive"]
            }
            self._able[kind] = time.monotonic(), {node: most for node, most in slots.items() if most}
        return self._able[kind][1]

    def alive(self) -> dict[str, str]:
        """The name of each node by its id."""
        return {node["NodeID"]: node["NodeManagerHostname"] for node in ray.nodes() if node["Alive"]}

    def probe(self, asked: Mapping[str, Any]) -> None:
        """Look on every node whether shards could be done there; those that come later look at their first shard."""
        request = json.dumps({"home": asked["home"]})
        nodes = [node for node in self.alive() if (node, asked["ledger"]) not in self._probed]
        looks = []
        for node in nodes:
            there = NodeAffinitySchedulingStrategy(node, soft=False)
            looks.append(_WORK.options(num_cpus=0, scheduling_strategy=there).remote(request, self.board))
        ready, late = ray.wait(looks, num_returns=len(looks), timeout=_PROBE_SECONDS) if looks else ([], [])
        for look in ready:
            try:
                reply = json.loads(ray.get(look))
            except (NodeDiedError, TaskUnschedulableError):  # the node went meanwhile
                continue
            except RayError as problem:
                where = nodes[looks.index(look)]
                raise _unable(f"the node {self.alive().get(where, where)}", problem) from None
            if "error" in reply:
                raise _Told(reply["error"])
        if late:
            raise KaratError(
                f"{len(late)} of {len(looks)} nodes did not begin to work within {_PROBE_SECONDS:.0f} s. "
                "Look at them with `ray status`."
            )
        self._probed.update((node, asked["ledger"]) for node in nodes)


def _unable(where: str, problem: RayError) -> KaratError:
    """What to say of a node on which not even karat's own function for shards begins."""
    lines = str(problem).strip().splitlines()
    reason = next((line for line in reversed(lines) if _ERROR.match(line)), lines[-1])
    return KaratError(
        f"{where} cannot work for karat ({reason}). Install karat there, in the environment that Ray was started in."
    )


def _connect(address: str) -> None:
    """Connect to a cluster that is there, `auto` to that which this machine is part of; none is started."""
    named = address
    if address == "auto" and (found := os.environ.get("RAY_ADDRESS")):  # Ray would take it as it is
        address, named = found, f"{found} (RAY_ADDRESS)"
    if address.startswith("ray://"):
        raise UsageError(
            f"{named} is an address of Ray's client, which has no files of its own. Start karat on a node of the "
            "cluster (ray job submit) and leave the address out."
        )
    try:
        if address != "auto":
            host, colon, port = address.rpartition(":")
            if not colon or not port.isdigit():
                raise UsageError(f"{named} is no address of a Ray cluster. Write HOST:PORT: 10.0.0.1:6379.")
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()  # Ray would try for long
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (OSError, OverflowError, RuntimeError, ValueError) as problem:
        reason = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
        where, how = (f"at {named}", f" --address {address}") if address != "auto" else ("on this machine", "")
        raise KaratError(
            f"no Ray cluster can be used {where} ({reason}). Look with `ray status{how}`, start one with "
            f"`ray start --head`, or name another with --ray-address; this is Ray {ray.__version__}."
        ) from None


class _Told(Exception):  # noqa: N818
    """An error that a worker described."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__()
        self.error = error


class _Dispatch:
    """The shards of one task: which wait, which are under way and where, and what became of them."""

    def __init__(self, cluster: _Cluster, asked: Mapping[str, Any]) -> None:
        self._cluster, self._asked, self._kind = cluster, asked, asked["task"]["work"]
        self._options = cluster.options(self._kind)
        self._waiting: dict[int | None, deque[dict[str, Any]]] = {}
        for shard in asked["shards"]:
            self._waiting.setdefault(shard["owner"], deque()).append(shard)
        self._under_way: dict[Any, dict[str, Any]] = {}
        self._actors: dict[int, Any] = {}
        self._node_of: dict[str, str] = {}
        self._faults, self._moves = Counter[str](), Counter[str]()
        self._full: set[str] = set()  # nodes that had no room

    def events(self) -> Iterator[dict[str, Any]]:
        """What is to be said to the process that asks: steps, notes, outputs."""
        waits = False
        try:
            while self._under_way or any(self._waiting.values()):
                waited, waits = waits, not self._places()
                if waits and not waited:
                    takes = ", ".join(f"{name} {value:g}" for name, value in self._cluster.asked(self._kind).items())
                    label = self._asked["task"]["label"]
                    yield {"note": f"{label}: waiting for a node with {takes}, which none has now"}
                self._hand_out()
                ready, _ = ray.wait(list(self._under_way), timeout=_WAIT)
                if ready:
                    ready, _ = ray.wait(list(self._under_way), num_returns=len(self._under_way), timeout=0)
                begun, steps = self._look()
                self._node_of.update(begun)
                for key, step in steps.items():
                    yield {"step": [key, *step]}
                for one in ready:
                    if one in self._under_way:
                        yield from self._settled(one, self._under_way.pop(one))
        finally:
            for one, shard in self._under_way.items():
                if shard["owner"] is None:
                    with suppress(RayError, ValueError):
                        ray.cancel(one, force=True)
            for actor in self._actors.values():
                ray.kill(actor)

    def _hand_out(self) -> None:
        slots = self._cluster.slots(self._kind)
        plain = sum(shard["owner"] is None for shard in self._under_way.values())
        for owner, waiting in self._waiting.items():
            if owner is None:
                while waiting and plain < slots + slots // _MORE:
                    self._submit(_WORK, waiting.popleft(), max_retries=0)
                    plain += 1
                continue
            mine = sum(shard["owner"] == owner for shard in self._under_way.values())
            if not waiting and not mine and owner in self._actors:
                ray.kill(self._actors.pop(owner))
            if waiting and owner not in self._actors:
                self._actors[owner] = ray.remote(Owner).options(**self._placed()).remote()
            while waiting and mine < _AN_OWNER:
                self._submit(self._actors[owner].work, waiting.popleft())
                mine += 1

    def _places(self) -> set[str]:
        """The nodes that could do a shard now."""
        return set(self._cluster.able(self._kind)) - self._full

    def _placed(self) -> dict[str, Any]:
        others = f"!in({','.join(sorted(self._full))})"
        return {**self._options, **({"label_selector": {"ray.io/node-id": others}} if self._full else {})}

    def _submit(self, function: Any, shard: dict[str, Any], **options: Any) -> None:
        request = {name: self._asked[name] for name in ("home", "task", "ledger")}
        log = self._asked["logs"] and os.path.join(self._asked["logs"], f"{shard['log']}.log")
        text = json.dumps({**request, "log": log, "shard": {k: v for k, v in shard.items() if k != "log"}})
        if shard["owner"] is None:
            function = function.options(**self._placed(), **options)
        self._under_way[function.remote(text, self._cluster.board)] = shard

    def _look(self) -> tuple[dict[str, str], dict[str, Any]]:
        try:
            begun, steps = ray.get(self._cluster.board.taken.remote(), timeout=_WAIT * 20)
        except RayError:
            return {}, {}
        return begun, steps

    def _settled(self, one: Any, shard: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """What became of a shard: an output, an error, or another try."""
        try:
            reply = json.loads(ray.get(one))
        except RayError as problem:
            if isinstance(problem, RayTaskError) or getattr(problem, "actor_init_failed", False):
                raise _unable("a node that came meanwhile", problem) from None  # nobody looked at it
            yield {"note": self._again(shard, problem)}
            return
        if "output" in reply:
            yield {"output": [shard["digest"], reply["output"]]}
        elif reply["error"].get("system", [None])[0] in NO_ROOM and self._places() - {reply["node"]}:
            self._full.add(reply["node"])
            self._leave(shard)
            yield {"note": f"{self._what(shard)}: no room on {reply['host']}; its shards go to other nodes"}
        else:
            raise _Told(reply["error"])

    def _again(self, shard: dict[str, Any], problem: RayError) -> str:
        """Hand out a shard anew whose worker died; an error where that is the shard's own fault, it seems."""
        key = shard["digest"]
        began_here = self._node_of.get(key) in self._cluster.alive() and not isinstance(problem, NodeDiedError)
        (self._faults if began_here else self._moves)[key] += 1
        why = "its worker died" if began_here else "its node went"
        if self._faults[key] >= ATTEMPTS or self._moves[key] > MOVES:
            times, more = self._faults[key] + self._moves[key], f"{{resources: {{{self._kind}: {{memory_gb: 8}}}}}}"
            raise KaratError(
                f"{self._what(shard)}: {why} {times} times ({type(problem).__name__}). If memory ran out, ask for more "
                f"in karat.yaml (pool: {more}). What is done is kept: run the same command again."
            )
        if shard["owner"] is not None and isinstance(problem, ActorDiedError):
            self._actors.pop(shard["owner"], None)
        self._node_of.pop(key, None)
        self._return(shard)
        return f"{self._what(shard)}: {why}; doing it again"

    def _leave(self, shard: dict[str, Any]) -> None:
        """Have a shard done elsewhere, and with it all that its owner has."""
        if (owner := shard["owner"]) in self._actors:
            ray.kill(self._actors.pop(owner))
            for one in [one for one, other in self._under_way.items() if other["owner"] == owner]:
                self._return(self._under_way.pop(one))  # not a fault of these that their worker dies
        self._return(shard)

    def _return(self, shard: dict[str, Any]) -> None:
        self._waiting[shard["owner"]].appendleft(shard)

    def _what(self, shard: Mapping[str, Any]) -> str:
        return f"{self._asked['task']['label']}, {shard['name'] or shard['path']}"
