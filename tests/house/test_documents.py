"""What the documents say can be done can be done, and what can be done is in them."""

import inspect
import re
import shlex
import shutil
from collections import Counter
from pathlib import Path

import pytest

import karat
from karat.cli.main import COMMANDS as SUMMARIES
from karat.cli.main import load, main
from karat.core.measure import MEASURES
from karat.files import formats
from karat.match import MATCHERS
from karat.measures.dialects import DIALECTS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
ALL = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
COMMANDS = {name: load(name) for name in SUMMARIES}


def blocks(language):
    """(page, line of the block, text) of every fenced block of a language."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in re.finditer(rf"^```{language}\n(.*?)^```", text, re.M | re.S):
            yield page, text[: found.start()].count("\n") + 1, found[1]


def named(found):
    return [f"{page.relative_to(ROOT)}:{line}" for page, line, *_ in found]


PYTHON = list(blocks("python"))
CONSOLE = [
    (page, line, [command for command in text.splitlines() if command.startswith("karat ")])
    for page, line, text in (*blocks("console"), *blocks("bash"), *blocks("sh"))
    if "\nkarat " in f"\n{text}"
]
LINES = [command for _, _, commands in CONSOLE for command in commands]


def test_there_is_something_to_check():
    assert len(PYTHON) >= 5
    assert len(LINES) >= 10
    assert "```python" in PAGES[0].read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "line", "text"), PYTHON, ids=named(PYTHON))
def test_every_python_block_runs_on_its_own(page, line, text, tmp_path, monkeypatch, undrawn):
    monkeypatch.chdir(tmp_path)
    exec(compile(text, f"{page.name}:{line}", "exec"), {"__name__": "__main__"})


def beginnings(commands):
    return [tuple(commands[:n]) for n in range(1, len(commands) + 1)]


BEGUN = Counter(beginning for _, _, commands in CONSOLE for beginning in beginnings(commands))


@pytest.fixture(scope="module")
def after(tmp_path_factory):
    """What several blocks begin with, and the folder as it is after that."""
    folder = tmp_path_factory.mktemp("after")
    shutil.copytree(DOCS / "examples", folder / "0" / "docs" / "examples")
    return {(): folder / "0"}


@pytest.mark.parametrize(("page", "line", "commands"), CONSOLE, ids=named(CONSOLE))
def test_every_command_runs(page, line, commands, after, tmp_path, monkeypatch, capsys, undrawn):
    """A block at a time, in a copy of the examples, or from the top where it names their folder.

    Blocks that begin alike go on from a copy of what the first of them made. Exit code 5: an example has a failed row.
    """
    done = max((beginning for beginning in [(), *beginnings(commands)] if beginning in after), key=len)
    top = tmp_path / "top"
    shutil.copytree(after[done], top)
    monkeypatch.chdir(top if any("docs/examples" in command for command in commands) else top / "docs" / "examples")
    for beginning in beginnings(commands)[len(done) :]:
        command = beginning[-1]
        monkeypatch.setattr("sys.argv", shlex.split(command, comments=True))
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        told = capsys.readouterr()
        assert code in (0, 5), (command, told.err)
        assert code == 0 or "rag.jsonl" in command, (command, told.err)
        if BEGUN[beginning] > 1:
            after[beginning] = after[()].with_name(str(len(after)))
            shutil.copytree(top, after[beginning])


def options_of(command):
    return {option for parameter in COMMANDS[command].params for option in parameter.opts if option.startswith("-")}


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_and_option_is_documented(command):
    assert re.search(rf"(?m)(^|`|&& )karat {command}\b", ALL), command
    assert COMMANDS[command].help
    missing = [o for o in options_of(command) if not re.search(rf"(?<![\w-]){re.escape(o)}(?![\w-])", ALL)]
    assert missing == []
    assert all(p.help for p in COMMANDS[command].params), command


def test_the_help_of_all_commands_says_what_each_says_of_itself():
    own = {name: command.help.partition("\n")[0].strip() for name, command in COMMANDS.items()}
    assert own == SUMMARIES


def test_every_karat_in_the_documents_names_a_command_with_its_options():
    """Also those within sentences."""
    inline = re.findall(r"`karat ([^`\n]+)`", ALL)
    assert len(inline) >= 3
    for text in [*inline, *(command.removeprefix("karat ") for command in LINES)]:
        words = text.split()
        if words[0].startswith("-"):
            assert words[0] in ("--help", "--version", "-h")
            continue
        names = [name for n in (2, 1) if (name := " ".join(words[:n])) in COMMANDS]
        assert names, text
        first, rest = names[0], words[len(names[0].split()) :]
        used = {word.partition("=")[0] for word in rest if re.fullmatch(r"--?[a-z][\w-]*(=.*)?", word)}
        assert used <= options_of(first) | {"--help", "-h"}, text


def test_every_measure_has_its_row():
    page = (DOCS / "measures.md").read_text(encoding="utf-8")
    for spec in (s for s in MEASURES if not MEASURES.is_plugin(s.name)):
        cut = f"@{spec.at}" if spec.at else {"none": "", "optional": "[@k]", "required": "@k"}[spec.cut]
        assert f"\n| `{spec.name}{cut}` |" in page, spec.name
        row = page.partition(f"\n| `{spec.name}{cut}` |")[2].partition("\n")[0]
        for param in spec.params:
            assert re.search(rf"`[^`]*\b{param.name}\b", row), f"{spec.name}: {param.name}"


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("matching.md", [m.name for m in MATCHERS]),
        ("dialects.md", list(DIALECTS)),
        ("formats.md", [f.name for f in formats()]),
        ("python.md", [f"karat.{name}" for name in karat.__all__]),
        ("python.md", [n for n in vars(karat.Report) if not n.startswith("_")]),
        ("python.md", list(inspect.signature(karat.score).parameters)),
    ],
    ids=["matchers", "dialects", "formats", "public names", "report", "score"],
)
def test_every_name_is_on_its_page(page, names):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert len(names) >= 6
    assert [name for name in names if not re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text)] == []


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


def test_every_page_is_in_its_table_of_contents():
    for folder in (DOCS, DOCS / "decisions"):
        linked = re.findall(r"\]\(([^)\s/]+\.md)\)", (folder / "README.md").read_text(encoding="utf-8"))
        assert {page.name for page in folder.glob("*.md")} - {"README.md"} == set(linked)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
