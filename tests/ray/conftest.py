"""Clusters of several nodes on this machine, each node with processes of its own."""

import os
import sys
from pathlib import Path

import pytest

BUILDERS = Path(__file__).parents[1] / "builders"


class Nodes:
    """A cluster to which nodes are added, and from which they are taken without a word."""

    def __init__(self, cpus):
        from ray.cluster_utils import Cluster

        self._cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": cpus[0], "include_dashboard": False})
        self.nodes = [self.add(count, resources={"added": 1}) for count in cpus[1:]]

    @property
    def address(self):
        return self._cluster.address

    def add(self, cpus, **more):
        return self._cluster.add_node(num_cpus=cpus, **more)

    def remove(self, node):
        self._cluster.remove_node(node, allow_graceful=False)

    def end(self):
        self._cluster.shutdown()


@pytest.fixture(scope="session", autouse=True)
def _environment():
    """What nodes inherit: the sources under test, the builders, no statistics sent, and no number of threads."""
    import karat

    before = dict(os.environ)
    for library in ("OMP", "OPENBLAS", "RAYON"):
        os.environ.pop(f"{library}_NUM_THREADS", None)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(karat.__file__).parents[1]), str(BUILDERS)])
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="session")
def cluster(_environment):
    """Two nodes with a processor each, for tests that end no node."""
    nodes = Nodes([1, 1])
    yield nodes
    nodes.end()


@pytest.fixture
def own_cluster(_environment):
    """A head and a node that may be taken away."""
    nodes = Nodes([1, 1])
    yield nodes
    nodes.end()
