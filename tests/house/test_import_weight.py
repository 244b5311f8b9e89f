"""`import karat` and `karat --help` are light and leave no trace."""

import statistics
import time
import tomllib
from pathlib import Path

import pytest

HEAVY = (
    "numpy", "polars", "pandas", "rich", "scipy", "pyarrow", "rapidfuzz", "sacrebleu", "pydantic", "yaml", "httpx",
    "starlette", "uvicorn", "anyio", "ray",
)  # fmt: skip
FRAMEWORKS = ("langchain", "langgraph", "llama_index", "haystack", "dspy", "chromadb", "qdrant_client", "ray")
IMPORT = "import karat"


@pytest.fixture(params=["import", "help"])
def code(request, alone):
    return IMPORT if request.param == "import" else alone.command("--help")


def test_nothing_heavy_is_imported(code, alone, tmp_path):
    tell = "import sys\nprint('LOADED', *{m.partition('.')[0] for m in sys.modules})"
    loaded = alone.run(f"{code}\n{tell}", tmp_path).stdout.rpartition("LOADED")[2].split()
    assert "karat" in loaded
    assert sorted(set(loaded) & set(HEAVY)) == []


def test_no_file_no_socket_no_environment(code, alone, tmp_path):
    told = alone.watched(code, tmp_path)
    assert (told.seen, told.left) == ("[]", [])


def test_the_demo_opens_no_socket_and_writes_its_run_alone(demo_run):
    assert demo_run.left == ["runs"]
    assert "open " in demo_run.seen
    assert "socket." not in demo_run.seen
    assert "urllib." not in demo_run.seen


@pytest.mark.parametrize(
    "snippet",
    [
        "open('x', 'w').close()",
        "os.environ['X'] = '1'",
        "import socket; socket.socket().close()",
        "logging.basicConfig()",
        "warnings.simplefilter('ignore')",
        "signal.signal(signal.SIGINT, signal.SIG_DFL)",
    ],
)
def test_the_watch_sees_what_it_watches_for(snippet, alone, tmp_path):
    assert alone.watched(snippet, tmp_path).seen != "[]"


def test_help_takes_at_most_eight_bare_interpreters(alone, tmp_path):
    """Medians of interleaved runs, tried again where the machine was busy."""

    def seconds(code):
        begun = time.perf_counter()
        alone.run(code, tmp_path)
        return time.perf_counter() - begun

    helping, ratios = alone.command("--help"), []
    for _ in range(4):
        pairs = [(seconds("pass"), seconds(IMPORT), seconds(helping)) for _ in range(7)]
        bare, imported, helped = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratios.append((helped / bare, imported / bare))
        if helped <= 8 * bare and imported <= 8 * bare:
            return
    pytest.fail(f"help and import over a bare interpreter: {ratios}")


def test_a_small_score_needs_neither_polars_nor_pydantic(alone, tmp_path):
    (tmp_path / "qa.csv").write_text("id,question,gold_doc\nq1,what,d1\n")
    (tmp_path / "run.csv").write_text("query_id,doc_id,score\nq1,d1,0.9\nq1,d3,0.5\n")
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "run.trec").write_text("q1 Q0 d1 1 0.9 t\n")
    tell = "import sys\nprint('LOADED', *{m.partition('.')[0] for m in sys.modules})"
    for words in (("qa.csv", "run.csv"), ("qrels", "run.trec")):
        printed = alone.run(f"{alone.command('score', *words)}\n{tell}", tmp_path).stdout
        assert "Recall@5" in printed
        assert not {"polars", "pydantic"} & set(printed.rpartition("LOADED")[2].split())


ASKING = """
import sys
from importlib.abc import MetaPathFinder
class Watch(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        wanted.add(name)
wanted = set()
sys.meta_path.insert(0, Watch())
import karat
documents = [type("Document", (), {"page_content": "t", "id": "a", "metadata": {"source": "a.pdf", "page": 0}})()]
report = karat.evaluate(
    [{"id": "q1", "question": "where?", "gold": [{"doc": "a.pdf"}]}],
    {"function": lambda question, k: ["a.pdf"], "documents": lambda question: documents},
)
assert report.mean("Recall@5", system="function") == report.mean("Recall@5", system="documents") == 1.0
print("WANTED", *sorted({name.partition(".")[0] for name in wanted}))
"""


def test_no_framework_is_looked_for_when_a_system_is_evaluated(alone, tmp_path):
    """Nor by what asks in vain whether one is installed."""
    wanted = alone.run(ASKING, tmp_path).stdout.rpartition("WANTED")[2].split()
    assert "karat" in wanted
    assert [name for name in wanted if name.startswith(FRAMEWORKS)] == []


def test_no_framework_is_installed_with_karat():
    about = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [one for one in about["dependencies"] if one.replace("-", "_").startswith(FRAMEWORKS)] == []
    assert len(about["dependencies"]) == 22  # one more is a decision: docs/decisions
