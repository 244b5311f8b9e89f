import errno
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import pytest
from shouted import log, outputs, shard, wait_for

from karat.core.errors import InputError, KaratError, UsageError
from karat.pool import Ledger, LocalPool, PoolSettings, Task

pytestmark = [
    pytest.mark.ray,
    pytest.mark.xdist_group("ray"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # Ray leaves streams of nodes open
]
TASK = Task(name="shouting:Upper", settings={"before": "> "}, work="build", label="shouting")


@pytest.fixture
def pool(cluster):
    return PoolSettings(by="ray", address=cluster.address).open()


def run(pool, tmp_path, texts, task=TASK, steps=None, owners=None):
    shards = [shard(tmp_path, text, name) for name, text in texts.items()]
    if owners:
        shards = [replace(one, owner=owners[one.path.name]) for one in shards]
    progress = (lambda *step: steps.append(step)) if steps is not None else (lambda *step: None)
    return list(pool.map(task, shards, Ledger(tmp_path / "ledger"), progress))


def test_each_shard_is_done_once_by_the_nodes_and_what_is_done_is_not_done_again(pool, tmp_path):
    texts = {name: name * 3 for name in "abcdef"}
    assert pool.jobs == 2
    assert outputs(run(pool, tmp_path, texts)) == {name: f"> {name.upper() * 3}" for name in "abcdef"}
    assert os.getpid() not in {int(pid) for _, pid in log(tmp_path)}
    assert outputs(run(pool, tmp_path, {**texts, "b": "other"}))["b"] == "> OTHER"
    assert sorted(name for name, _ in log(tmp_path)) == ["a", "b", "b", "c", "d", "e", "f"]


def test_the_same_bytes_as_the_local_pool(pool, tmp_path):
    found = []
    for number, one in enumerate((pool, LocalPool(1), LocalPool(2))):
        folder = tmp_path / str(number)
        folder.mkdir()
        run(one, folder, {name: name * 3 for name in "abcd"})
        ledger = folder / "ledger"
        found.append({p.relative_to(ledger).as_posix(): p.read_bytes() for p in ledger.rglob("*") if p.is_file()})
    assert found[0] == found[1] == found[2] != {}


def test_shards_of_an_owner_are_done_by_one_process(pool, tmp_path):
    texts = {f"{owner}{n}": f"text {owner}{n}" for owner in "xy" for n in range(4)}
    run(pool, tmp_path, texts, owners={name: "xy".index(name[0]) for name in texts})
    by_owner = {owner: {pid for name, pid in log(tmp_path) if name[0] == owner} for owner in "xy"}
    assert [len(pids) for pids in by_owner.values()] == [1, 1]
    assert by_owner["x"] != by_owner["y"]


def test_shards_that_hold_the_same_are_done_once_and_each_is_told(pool, tmp_path):
    assert outputs(run(pool, tmp_path, dict.fromkeys("abc", "same"))) == dict.fromkeys("abc", "> SAME")
    assert len(log(tmp_path)) == 1


def test_a_shard_takes_no_more_threads_than_processors_are_asked_for_it(pool, tmp_path):
    assert outputs(run(pool, tmp_path, {"a": "threads"})) == {"a": "> 1"}
    assert outputs(run(pool, tmp_path, {"b": "threads "}, owners={"b": 0})) == {"b": "> 1"}


@pytest.mark.parametrize("owner", [None, 0])
def test_a_worker_that_is_killed_is_replaced(pool, tmp_path, owner):
    steps = []
    texts = {"a": "die once", "b": "two"}
    pairs = run(pool, tmp_path, texts, steps=steps, owners=dict.fromkeys(texts, owner))
    assert outputs(pairs) == {"a": "> DIE ONCE", "b": "> TWO"}
    assert "shouting, shard a: its worker died; doing it again" in [what for what, _, _ in steps]


def test_a_shard_that_kills_its_worker_again_is_an_error_that_keeps_what_is_done(pool, tmp_path):
    with pytest.raises(KaratError, match=r"shouting, shard a: its worker died 2 times.*memory_gb"):
        run(pool, tmp_path, {"b": "two", "a": "die"})
    assert outputs(run(pool, tmp_path, {"b": "two"})) == {"b": "> TWO"}


def test_an_error_is_the_same_as_of_the_local_pool(pool, tmp_path):
    with pytest.raises(UsageError, match=r"^not so\.$"):
        run(pool, tmp_path, {"a": "usage", "b": "two0"})
    with pytest.raises(InputError, match=r"^a.txt line 3: is odd. Mend it.$"):
        run(pool, tmp_path, {"a": "input", "b": "two1"})
    with pytest.raises(OSError, match="No space left") as full:
        run(pool, tmp_path, {"a": "full", "b": "two2"})
    assert full.value.errno == errno.ENOSPC
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run(pool, tmp_path, {"a": "bug"})


@pytest.fixture
def small(tmp_path):
    """A file system of one megabyte."""
    (tmp_path / "small").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path / "small")]
    subprocess.run(mount, check=True)
    yield tmp_path / "small"
    subprocess.run(["umount", str(tmp_path / "small")], check=True)


@pytest.mark.usefixtures("small")
def test_a_node_without_room_is_left_alone(own_cluster, tmp_path):
    (full,) = own_cluster.nodes
    (tmp_path / "full").write_text(full.node_id)
    steps = []
    pool = PoolSettings(by="ray", address=own_cluster.address).open()
    texts = {name: f"no room at {name}" for name in "abcdefgh"}
    assert len(run(pool, tmp_path, texts, steps=steps)) == 8
    assert any("no room on" in what for what, _, _ in steps)


@pytest.mark.parametrize("owner", [None, 0])
def test_what_a_node_was_at_that_goes_is_done_on_another(own_cluster, tmp_path, owner):
    (node,) = own_cluster.nodes
    pool = PoolSettings(by="ray", address=own_cluster.address).open()
    texts = {name: f"slow until {name}" for name in "abcd"}
    steps, done = [], []

    def work():
        done.append(outputs(run(pool, tmp_path, texts, steps=steps, owners=owner and dict.fromkeys(texts, owner))))

    thread = threading.Thread(target=work)
    thread.start()
    wait_for(lambda: (tmp_path / "begun").exists() and node.node_id in (tmp_path / "begun").read_text())
    own_cluster.remove(node)
    own_cluster.add(1)
    (tmp_path / "go").touch()
    thread.join(120)
    assert done == [{name: f"> {text.upper()}" for name, text in texts.items()}]


def test_work_waits_for_a_node_that_has_what_is_asked_for_it_and_says_so(own_cluster, tmp_path):
    pool = PoolSettings(by="ray", address=own_cluster.address, resources={"build": {"gpu": 1}}).open()
    steps, done = [], []
    thread = threading.Thread(target=lambda: done.append(outputs(run(pool, tmp_path, {"a": "one"}, steps=steps))))
    thread.start()
    wait_for(lambda: ("shouting: waiting for a node with cpu 1, gpu 1, which none has now", 0, 1) in steps)
    own_cluster.add(1, num_gpus=1)
    thread.join(120)
    assert done == [{"a": "> ONE"}]


class WaitsError(Exception):
    """A pool has said that it waits."""


@pytest.mark.parametrize(
    ("more", "takes"),
    [
        ({"resources": {"build": {"memory_gb": 10_000}}}, "cpu 1, memory_gb 10000"),
        ({"resources": {"build": {"gpu": 1}}, "jobs": 4}, "cpu 1, gpu 1"),
        ({"resources": {"build": {"added": 1, "cpu": 2}}}, "cpu 2, added 1"),
    ],
)
def test_whatever_no_node_has_is_said_and_not_waited_for_in_silence(cluster, tmp_path, more, takes):
    def progress(what, done, total):
        if "waiting" in what:
            raise WaitsError(what)

    pool = PoolSettings(by="ray", address=cluster.address, **more).open()
    with pytest.raises(WaitsError, match=f"waiting for a node with {takes}, which none has now"):
        list(pool.map(TASK, [shard(tmp_path, "one")], Ledger(tmp_path / "ledger"), progress))


@pytest.mark.parametrize("owner", [None, 0])
def test_where_all_nodes_that_can_do_it_are_full_that_is_the_error(cluster, tmp_path, owner):
    pool = PoolSettings(by="ray", address=cluster.address, resources={"build": {"added": 1}}).open()
    with pytest.raises(OSError, match="No space left"):
        run(pool, tmp_path, {"a": "full"}, owners={"a": owner})


def test_a_driver_that_was_killed_is_followed_by_another_that_goes_on(cluster, tmp_path):
    for name in "abcd":
        shard(tmp_path, f"slow until {name}", name)
    program = (
        "import sys; from pathlib import Path; from test_ray_pool import *\n"
        "folder = Path(sys.argv[1])\n"
        "pool = PoolSettings(by='ray', address=sys.argv[2]).open()\n"
        "print(len(run(pool, folder, {name: f'slow until {name}' for name in 'abcd'})))\n"
    )
    here = os.path.dirname(__file__)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ["PYTHONPATH"]])}
    command = [sys.executable, "-c", program, str(tmp_path), cluster.address]
    first = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    wait_for(lambda: (tmp_path / "begun").exists())
    (tmp_path / "once").touch()  # lets those go on that have begun
    wait_for(lambda: log(tmp_path))
    first.send_signal(signal.SIGKILL)
    first.wait()
    (tmp_path / "go").touch()
    finished = len(log(tmp_path))
    second = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=120)
    assert second.stdout.split() == [b"4"]
    assert sorted({name for name, _ in log(tmp_path)}) == list("abcd")
    assert finished >= 1


def test_an_interrupt_leaves_nothing_behind_that_works(cluster, tmp_path):
    pool = PoolSettings(by="ray", address=cluster.address).open()
    shards = [shard(tmp_path, f"slow until {name}", name) for name in "ab"]
    mapped = pool.map(TASK, shards, Ledger(tmp_path / "ledger"), lambda *step: None)
    thread = threading.Timer(0, lambda: None)
    thread.start()
    (tmp_path / "once").touch()
    next(mapped)
    mapped.close()  # as an exception where it is read does
    (tmp_path / "go").touch()
    assert len(run(pool, tmp_path, {"a": "slow until a", "b": "slow until b"})) == 2


def test_nodes_that_do_not_see_the_files_or_have_other_versions_are_named(cluster, tmp_path, monkeypatch):
    from karat.pool import _ray

    pool = PoolSettings(by="ray", address=cluster.address).open()
    monkeypatch.setattr(_ray, "versions", lambda: {**_real(), "numpy": "0.1"})
    with pytest.raises(KaratError, match=r"the node \S+ has numpy \S+ instead of 0\.1\. Install the same versions"):
        run(pool, tmp_path, {"a": "one"})
    monkeypatch.undo()
    monkeypatch.setattr(Ledger, "probe", _unseen)
    with pytest.raises(KaratError, match="does not see the files in"):
        run(pool, tmp_path, {"a": "one"})


@pytest.mark.parametrize("owners", [None, {"a": 0, "b": 0, "c": 1, "d": 1}])
def test_a_node_without_karat_is_named_also_where_it_comes_late(own_cluster, tmp_path, owners):
    (node,) = own_cluster.nodes
    (tmp_path / "bare" / "karat").mkdir(parents=True)
    (tmp_path / "bare" / "karat" / "__init__.py").write_text("raise ImportError('no karat here')\n")
    texts, failed = {name: f"slow until {name}" for name in "abcd"}, []

    def work():
        with pytest.raises(KaratError) as problem:
            run(PoolSettings(by="ray", address=own_cluster.address).open(), tmp_path, texts, owners=owners)
        failed.append(str(problem.value))

    thread = threading.Thread(target=work)
    thread.start()
    wait_for(lambda: (tmp_path / "begun").exists() and node.node_id in (tmp_path / "begun").read_text())
    own_cluster.add(1, env_vars={"PYTHONPATH": str(tmp_path / "bare")})
    own_cluster.remove(node)
    thread.join(120)
    (tmp_path / "go").touch()
    work()
    sentence = r"^(the node \S+|a node that came meanwhile) cannot work for karat \(.*no karat here\)\. Install"
    assert [bool(re.search(sentence, one)) for one in failed] == [True, True], "\n".join(failed)


def _real():
    from karat.pool._ray_worker import versions

    return versions()


def _unseen(ledger):
    """A probe whose text the nodes read otherwise, as where another disk stands under the same path."""
    path = ledger.folder / ".part-00000000" / "probe"
    path.parent.mkdir(parents=True, exist_ok=True)
    fifo = path.with_name("probe")
    fifo.write_text("here")
    original = type(path).read_text
    other = type("Here", (type(path),), {"read_text": lambda self, *_: f"{original(self)} and no other"})
    return other(path)


def test_logs_say_who_did_what_and_why_it_failed(cluster, tmp_path):
    pool = PoolSettings(by="ray", address=cluster.address).open(tmp_path / "logs")
    with pytest.raises(RuntimeError):
        run(pool, tmp_path, {"a": "bug"})
    run(pool, tmp_path, {"b": "two"})
    texts = [path.read_text() for path in (tmp_path / "logs").iterdir()]
    failed, done = sorted(texts, key=lambda text: "done in" in text)
    assert "shouting: shard a on" in failed
    assert "ZeroDivisionError" in failed
    assert "done in" in done


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("ray://127.0.0.1:10001", "Start karat on a node of the cluster"),
        ("nowhere", "HOST:PORT"),
        ("127.0.0.1:9", "no Ray cluster can be used at 127.0.0.1:9"),
    ],
)
def test_an_address_that_cannot_be_is_one_sentence(monkeypatch, address, sentence):
    with pytest.raises(KaratError, match=sentence):
        PoolSettings(by="ray", address=address).open()
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(KaratError, match=f"RAY_ADDRESS.*{sentence}|{sentence}.*RAY_ADDRESS"):
        PoolSettings(by="ray").open()


def test_no_cluster_is_started_where_the_environment_says_so(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "local")
    with pytest.raises(KaratError, match=r"^local \(RAY_ADDRESS\) is no address of a Ray cluster"):
        PoolSettings(by="ray").open()
