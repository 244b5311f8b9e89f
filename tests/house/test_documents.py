"""What the documents say can be done can be done, and what they show is what is printed."""

import json
import re
import shlex
import shutil
from collections import Counter
from pathlib import Path

import pytest
import yaml

from karat.cli.main import COMMANDS, REMOVED, load, main
from karat.report.build.study import document
from karat.report.render import console
from karat.results.serial import load_study

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
TUTORIAL = DOCS / "tutorial.md"
REFERENCE = DOCS / "reference"
GALLERY = DOCS / "gallery" / "README.md"  # what it shows is run where the packages are: tests/frameworks
MOST_LINES = 100  # of a page that says how to do one thing
MOST_WORDS = 35_500  # written by hand


def blocks(language, pages=PAGES):
    """(page, line of the block, text) of every fenced block of a language."""
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for found in re.finditer(rf"^```{language}\n(.*?)^```", text, re.M | re.S):
            yield page, text[: found.start()].count("\n") + 1, found[1]


def named(found):
    return [f"{page.relative_to(ROOT)}:{line}" for page, line, *_ in found]


def commands_of(text):
    return [line for line in text.splitlines() if line.startswith("karat ")]


def consoles():
    """(page, line, commands) of every block with commands; the blocks of the tutorial are one walk."""
    found = sorted((*blocks("console"), *blocks("bash"), *blocks("sh")), key=lambda block: (str(block[0]), block[1]))
    for page, line, text in found:
        if page != TUTORIAL and commands_of(text):
            yield page, line, commands_of(text)
    yield TUTORIAL, 1, [command for page, _, text in found if page == TUTORIAL for command in commands_of(text)]


PYTHON = list(blocks("python", [page for page in PAGES if page != GALLERY]))
CONSOLE = list(consoles())


def flat(text):
    return " ".join(text.split())


def not_printed(page, printed):
    """Lines that a page shows as output and that are not in what was printed; `...` stands for lines left out."""
    shown = [line for _, _, text in blocks("text", [page]) for line in text.splitlines() if line.strip() != "..."]
    assert shown
    return [line for line in shown if flat(line) not in flat(printed)]


def test_there_is_something_to_check():
    assert len(PYTHON) >= 5
    assert len(CONSOLE) >= 10
    assert "```python" in PAGES[0].read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "line", "text"), PYTHON, ids=named(PYTHON))
def test_every_python_block_runs_on_its_own(page, line, text, tmp_path, monkeypatch, undrawn):
    monkeypatch.chdir(tmp_path)
    exec(compile(text, f"{page.name}:{line}", "exec"), {"__name__": "__main__"})


def beginnings(commands):
    return [tuple(commands[:n]) for n in range(1, len(commands) + 1)]


SHOWN = {name for _, _, commands in CONSOLE for command in commands for name in re.findall(r"\bq\d{3}\b", command)}


def shortened(testset):
    """Leave a quarter of the demo's questions, and those that commands name: `demo_run` asks all of them."""
    rows = testset.read_text(encoding="utf-8").splitlines(True)
    few = [row for number, row in enumerate(rows) if number % 4 == 0 or json.loads(row)["id"] in SHOWN]
    testset.write_text("".join(few), encoding="utf-8")
    testset.with_name(f"{testset.name}.frozen.json").unlink()


BEGUN = Counter(beginning for _, _, commands in CONSOLE for beginning in beginnings(commands))


@pytest.fixture(scope="module")
def after(tmp_path_factory):
    """What several blocks begin with, and the folder as it is after that."""
    folder = tmp_path_factory.mktemp("after")
    shutil.copytree(DOCS / "examples", folder / "0" / "docs" / "examples")
    return {(): folder / "0"}


EXPLAINING = ("explanation", "extend")  # pages that no task leads to: their commands are slow tests
RUNS = [
    pytest.param(*block, marks=pytest.mark.slow) if block[0].parent.name in EXPLAINING else block for block in CONSOLE
]


@pytest.mark.parametrize(("page", "line", "commands"), RUNS, ids=named(CONSOLE))
def test_every_command_runs(page, line, commands, after, tmp_path, monkeypatch, capsys, undrawn):
    """A block at a time, in a copy of the examples, or from the top where it names their folder.

    Blocks that begin alike go on from a copy of what the first of them made. Exit code 5: an example has a failed row.
    What the tutorial shows is what its commands print; elsewhere the demo has fewer questions.
    """
    done = max((beginning for beginning in [(), *beginnings(commands)] if beginning in after), key=len)
    done = done if page != TUTORIAL else ()
    top = tmp_path / "top"
    shutil.copytree(after[done], top)
    monkeypatch.chdir(top if any("docs/examples" in command for command in commands) else top / "docs" / "examples")
    monkeypatch.delenv("COLUMNS", raising=False)
    printed = ""
    for beginning in beginnings(commands)[len(done) :]:
        command = beginning[-1]
        monkeypatch.setattr("sys.argv", shlex.split(command, comments=True))
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        told = capsys.readouterr()
        printed += told.out
        assert code in (0, 5), (command, told.err)
        assert code == 0 or "rag.jsonl" in command, (command, told.err)
        if command.startswith("karat demo --files ") and page != TUTORIAL:
            shortened(Path(command.split()[-1]) / "questions.jsonl")
        if BEGUN[beginning] > 1 and beginning not in after:
            after[beginning] = after[()].with_name(str(len(after)))
            shutil.copytree(top, after[beginning])
    if page == TUTORIAL:
        assert not_printed(page, printed) == []


def test_the_readme_shows_what_the_demo_prints(demo_run):
    folder = demo_run.folder / json.loads(demo_run.out)["folder"]
    printed = console.render(document(load_study(folder), str(folder)))
    assert not_printed(ROOT / "README.md", printed) == []


def options_of(name):
    return {option for parameter in load(name).params for option in parameter.opts if option.startswith("-")}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_by_hand_too(name):
    by_hand = "\n".join(page.read_text(encoding="utf-8") for page in PAGES if REFERENCE not in page.parents)
    assert re.search(rf"(?m)(^|`|&& )karat {name}\b", by_hand), name
    assert load(name).help.partition("\n")[0].strip() == COMMANDS[name]
    assert all(parameter.help for parameter in load(name).params), name


def test_every_karat_in_the_documents_names_a_command_with_its_options():
    """Also those within sentences; decisions may name a command that was removed since."""
    inline = [
        (page, text) for page in PAGES for text in re.findall(r"`karat ([^`\n]+)`", page.read_text(encoding="utf-8"))
    ]
    assert len(inline) >= 3
    for page, text in [*inline, *((page, line[6:]) for page, _, lines in CONSOLE for line in lines)]:
        words = text.split()
        names = [name for n in (2, 1) if (name := " ".join(words[:n])) in COMMANDS]
        if not names:
            assert words[0] in ("--help", "--version", "COMMAND", "testset") or (
                words[0] in REMOVED and "decisions" in page.parts
            ), text
            continue
        used = {word.partition("=")[0] for word in words if re.fullmatch(r"--?[a-z][\w-]*(=.*)?", word)}
        assert used <= options_of(names[0]) | {"--help", "-h"}, text


def test_the_manifest_of_a_cluster_gives_every_pod_the_same_image_and_volume():
    job, claim = yaml.safe_load_all((DOCS / "examples" / "rayjob.yaml").read_text(encoding="utf-8"))
    cluster = job["spec"]["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    pods = [group["template"]["spec"] for group in groups]
    assert len({pod["containers"][0]["image"] for pod in pods}) == 1
    assert {pod["containers"][0]["volumeMounts"][0]["mountPath"] for pod in pods} == {"/data"}
    claims = {pod["volumes"][0]["persistentVolumeClaim"]["claimName"] for pod in pods}
    assert claims == {claim["metadata"]["name"]}
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    (options,) = re.findall(r"karat run karat.yaml (--\S+) ray", job["spec"]["entrypoint"])
    assert options in options_of("run")


def test_every_link_between_pages_leads_somewhere():
    broken = []
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if target.startswith(("http://", "https://")):
                continue
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            if not there.exists():
                broken.append(f"{page.name}: {target}")
            elif anchor and there.suffix == ".md":
                heads = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.M)
                slugs = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
                if anchor not in slugs:
                    broken.append(f"{page.name}: {target}")
    assert broken == []


def test_every_page_is_in_a_table_of_contents():
    for index, pages in (
        (DOCS / "README.md", {page for page in DOCS.rglob("*.md") if "decisions" not in page.parts}),
        (DOCS / "decisions" / "README.md", set((DOCS / "decisions").glob("*.md"))),
    ):
        links = re.findall(r"\]\(([^)\s#]+\.md)\)", index.read_text(encoding="utf-8"))
        linked = {(index.parent / link).resolve() for link in links}
        assert {page.name for page in pages - linked - {index}} == set()


def test_every_page_that_the_code_points_to_is_there():
    sources = [*(ROOT / "src").rglob("*.py"), ROOT / "action.yml"]
    named = {path for source in sources for path in re.findall(r"docs/[\w/-]+\.md", source.read_text(encoding="utf-8"))}
    assert named
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_pages_are_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
    lines = {page.name: len(page.read_text(encoding="utf-8").splitlines()) for page in (DOCS / "how-to").glob("*.md")}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}
    others = {GALLERY, *(DOCS / "decisions").glob("*.md"), *REFERENCE.glob("*.md")}  # scripts, history, generated
    by_hand = set(DOCS.rglob("*.md")) - others
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in by_hand) <= MOST_WORDS
