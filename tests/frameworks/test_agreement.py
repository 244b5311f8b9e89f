"""One corpus, one embedder, many frameworks: the real packages, an environment each, and the same numbers to 1e-9.

KARAT_FRAMEWORKS names the folder where the environments stand or are made; then none may be left out. Without it they
are made for this run, and one that cannot be made is skipped.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from environments import made_environment
from gallery import copied

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
RUNNER = ROOT / "tests" / "builders" / "gallery.py"
OTLP = "opentelemetry-exporter-otlp-proto-common"
PACKAGES = {
    "langchain": ("langchain", "langgraph", "openinference-instrumentation-langchain", OTLP),
    "llamaindex": ("llama-index-core", "openinference-instrumentation-llama-index", OTLP),
    "haystack": ("haystack-ai",),
    "dspy": ("dspy",),
    "stores": ("chromadb", "qdrant-client"),
}
SCRIPTS = {
    "langchain": ("langchain_retriever", "langchain_chain"),
    "llamaindex": ("llamaindex_retriever", "llamaindex_engine"),
    "haystack": ("haystack_pipeline",),
    "dspy": ("dspy_retriever", "dspy_module"),
    "stores": ("chroma_store", "qdrant_store"),
}
SECONDS = 600
pytestmark = pytest.mark.frameworks


@pytest.mark.parametrize("name", PACKAGES)
def test_every_way_of_asking_gives_the_numbers_of_the_plain_function(name, plain, tmp_path):
    given = os.environ.get("KARAT_FRAMEWORKS")
    try:
        python = made_environment((Path(given) if given else tmp_path) / name, PACKAGES[name])
    except (LookupError, OSError, subprocess.TimeoutExpired) as problem:
        if given:
            raise
        pytest.skip(f"no environment with {', '.join(PACKAGES[name])}: {problem}")
    folder = copied(tmp_path)
    scripts = [*(folder / f"{script}.py" for script in SCRIPTS[name]), HERE / f"{name}_objects.py"]
    done = subprocess.run(
        [python, RUNNER, *scripts],
        cwd=folder,
        env={
            **os.environ,
            "HAYSTACK_TELEMETRY_ENABLED": "False",
            "ANONYMIZED_TELEMETRY": "False",
            "HOME": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    told = json.loads(done.stdout)
    print(name, {package: told["versions"][package] for package in PACKAGES[name]})
    for script, reports in told["values"].items():
        for kind, systems in reports.items():
            for system, questions in systems.items():
                assert questions == {
                    question: pytest.approx(values, abs=1e-9, rel=0) for question, values in plain.items()
                }, (script, kind, system)
