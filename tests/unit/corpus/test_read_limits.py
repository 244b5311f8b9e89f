"""Files that take all memory, all time or the process itself: each fails alone, with the limit it exceeds."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile

import pytest
from docx import Document
from fpdf import FPDF

from karat.core.errors import KaratError
from karat.corpus import READERS, File, read
from karat.corpus._reader import content_of
from karat.io.limits import ReadLimits
from karat.pool import process

CATALOG, PAGES = b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>"
FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]"
LIMIT = 6 << 30  # bytes of address space for a trial, so that a machine survives one that fails


def stream(facts, data):
    return b"<<%s/Length %d>>\nstream\n%s\nendstream" % (facts, len(data), data)


def pdf(*objects):
    out, places = io.BytesIO(b"%PDF-1.4\n"), []
    out.seek(0, os.SEEK_END)
    for number, content in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(places) + 1, start))
    return out.getvalue()


def form_that_calls_itself():
    form = stream(FORM + b"/Resources<</XObject<</F 5 0 R>>>>", b"/F Do /F Do")
    return pdf(CATALOG, PAGES, PAGE, stream(b"", b"/F Do"), form)


def nested_forms(depth=12, calls=40):
    forms = [stream(FORM + b"/Resources<</XObject<</F %d 0 R>>>>" % (6 + n), b"/F Do " * calls) for n in range(depth)]
    return pdf(CATALOG, PAGES, PAGE, stream(b"", b"/F Do"), *forms, stream(FORM, b"0 0 1 1 re f"))


def word_file_of(paragraphs):
    """A Word file with so many empty paragraphs."""
    sound, out = io.BytesIO(), io.BytesIO()
    Document().save(sound)
    with zipfile.ZipFile(sound) as parts, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name in parts.namelist():
            data = parts.read(name)
            made.writestr(name, data.replace(b"<w:sectPr", b"<w:p/>" * paragraphs + b"<w:sectPr", 1))
    return out.getvalue()


def page_of_open_elements(size):
    """An HTML page of so many bytes whose parser repeats all open inline elements in every paragraph."""
    head = "<!doctype html><html><body><p>" + "".join(f"<b a={number:x}>" for number in range(490))
    return (head + "<p>x" * (size // 4))[:size].encode()


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peak memory of a process is told by Linux only")
def test_the_worst_page_that_is_read_without_a_process_of_its_own_takes_little_memory(tmp_path):
    page = tmp_path / "small.html"
    page.write_bytes(page_of_open_elements(READERS.get("html").in_place_below - 1))
    code = (
        "import sys\n"
        "from karat.corpus import read\n"
        "assert len(read(sys.argv[1]).docs) == 1\n"
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(page)], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 600 << 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.html", lambda: page_of_open_elements(80_000)),
        ("self.pdf", form_that_calls_itself),
        ("nested.pdf", nested_forms),
        ("many.docx", lambda: word_file_of(3_000_000)),
    ],
)
def test_a_small_file_does_not_take_all_memory(tmp_path, name, content):
    (tmp_path / name).write_bytes(content())
    (tmp_path / "sound.txt").write_text("All is well.")
    assert (tmp_path / name).stat().st_size < 100_000
    code = (
        "import json, resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({LIMIT}, {LIMIT}))\n"
        "from karat.corpus import read\n"
        "from karat.io.limits import ReadLimits\n"
        "reading = read(sys.argv[1], limits=ReadLimits(memory_mb=300))\n"
        "print(json.dumps([[doc.id for doc in reading.docs], [[p.kind, p.reason] for p in reading.problems]]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    docs, problems = json.loads(done.stdout)
    assert docs == ["sound.txt"]
    ((kind, reason),) = problems
    assert kind == "limit"
    assert re.fullmatch(r"takes more than 30[01] MB of memory to read\.", reason)


def paper(*pages):
    made = FPDF()
    made.set_font("Helvetica", size=10)
    for text in pages:
        made.add_page()
        made.multi_cell(0, 5, text)
    return bytes(made.output())


@pytest.fixture
def folder(tmp_path):
    """Three documents that are read in a process of their own."""
    for number in (1, 2, 3):
        (tmp_path / f"{number}.pdf").write_bytes(paper(f"Paper {number}"))
    return tmp_path


def test_a_pdf_with_too_many_pages(folder):
    (folder / "2.pdf").write_bytes(paper("One", "Two", "Three"))
    reading = read(folder, limits=ReadLimits(pages=2))
    assert [doc.id for doc in reading.docs] == ["1.pdf", "3.pdf"]
    (problem,) = reading.problems
    assert str(problem) == (
        f"{folder / '2.pdf'}: has 3 pages, and at most 2 are read. If you trust it, raise the limit: "
        "`karat index --max-pages`, or `reading: {pages: ...}` in karat.yaml."
    )
    assert (problem.kind, problem.fatal) == ("limit", True)


def test_a_file_with_too_much_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("words " * 1000)
    file = File(path, "a.txt", "a.txt", limits=ReadLimits(text_mb=1))
    assert content_of(file, READERS.get("text"))[1] is None
    file = File(path, "a.txt", "a.txt", limits=ReadLimits(text_mb=1))
    file.__dict__["size"] = 10  # as if it were packed
    reader = READERS.get("text")
    path.write_text("words " * 200_000)
    docs, fault = content_of(file, reader)
    assert docs == []
    assert fault.reason == "holds more than 1 MB of text."


PLUGIN = """
import os, time
from karat.core.docs import Doc
from karat.corpus import Reader

def read(file):
    exec(file.head.decode())
    print("this goes nowhere")
    yield Doc(file.id, "read by " + ("another process" if os.getpid() != {pid} else "this one"))

READER = Reader("trial", "a trial", (".trial",), lambda file: None, read)
"""


@pytest.fixture
def trial(tmp_path, monkeypatch):
    """A folder of files that say in Python what happens when a plug-in reads them."""
    package = tmp_path / "packages"
    about = package / "karat_trial-1.dist-info"
    about.mkdir(parents=True)
    (package / "karat_trial.py").write_text(PLUGIN.replace("{pid}", str(os.getpid())))
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: karat-trial\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[karat.readers]\ntrial = karat_trial\n")
    monkeypatch.syspath_prepend(str(package))
    monkeypatch.setattr(READERS, "_plugins", None)
    monkeypatch.setattr(READERS, "_loaded", {})
    from karat.core import registry

    registry._registered.cache_clear()
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(1, 6):
        (docs / f"{number}.trial").write_text("pass")
    yield docs
    monkeypatch.undo()
    registry._registered.cache_clear()
    READERS._plugins = None
    READERS._loaded.pop("trial", None)


def read_but(trial, *lost, **limits):
    """The problem of the file that was not read, where all others were."""
    reading = read(trial, limits=ReadLimits(**limits))
    assert [doc.id for doc in reading.docs] == [f"{n}.trial" for n in range(1, 6) if n not in lost]
    assert {doc.text for doc in reading.docs} == {"read by another process"}
    return [str(problem).removeprefix(f"{trial}/") for problem in reading.problems]


@pytest.mark.slow
@pytest.mark.parametrize("way", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_file_that_ends_the_process_fails_alone(trial, way):
    for number in (2, 4):
        (trial / f"{number}.trial").write_text(f"os.kill(os.getpid(), {int(way)})")
    for number, problem in zip((2, 4), read_but(trial, 2, 4), strict=True):
        assert problem.startswith(f"{number}.trial: ended the process that read it ({way.name}). Make or download")


def test_a_file_that_takes_too_long_fails_alone(trial):
    (trial / "3.trial").write_text("time.sleep(600)")
    (problem,) = read_but(trial, 3, seconds=1.5)
    assert problem.startswith("3.trial: takes longer than 1.5 seconds to read. If you trust it, raise the limit: ")


def test_a_file_that_takes_memory_little_by_little_and_catches_what_is_raised(trial):
    (trial / "1.trial").write_text(
        "x = []\ntry:\n  while True: x.append(b'x' * (1 << 20))\nexcept MemoryError: raise OSError"
    )
    (problem,) = read_but(trial, 1, memory_mb=300)
    assert problem.startswith("1.trial: takes more than 300 MB of memory to read.")


def test_a_process_that_cannot_start_is_an_error_that_says_why(folder, monkeypatch):
    monkeypatch.setattr(process, "_PROGRAM", "raise SystemExit('no such thing')")
    with pytest.raises(KaratError, match="the process that reads documents could not be started: no such thing"):
        read(folder)


def test_the_process_gives_what_reading_here_gives(folder):
    (folder / "a.html").write_text(
        "<title>A \ud83d</title><h1>Head</h1><p>naïve \u2028 text</p>", "utf-8", "surrogatepass"
    )
    (folder / "b.csv").write_text("id,text,page,tag\nx,words,3,t\ny,,1,\nx,others,2,\n")
    (folder / "c.md").write_text("---\nurl: https://example.org/\n---\n# Title\n\n" + "A [link](b) there.\n" * 9000)
    reading = read(folder)
    docs = []
    for path in sorted(folder.iterdir()):
        file = File(path, path.name, str(path))
        found, _ = content_of(file, READERS.get({".csv": "table", ".md": "markdown"}.get(path.suffix, path.suffix[1:])))
        docs += found
    assert [doc for doc in docs if doc.text != "others"] == list(reading.docs)
    assert [problem.kind for problem in reading.problems] == ["encoding", "empty", "clash"]


def test_reading_works_from_a_script_without_a_main_guard(folder):
    script = folder.parent / "script.py"
    script.write_text(f"from karat.corpus import read\nprint(len(read({str(folder)!r}).docs))\n")
    (folder.parent / "json.py").write_text("raise SystemExit('a file of the working folder was imported')")
    done = subprocess.run(
        [sys.executable, "-P", script], capture_output=True, cwd=folder.parent, text=True, check=False, timeout=100
    )
    assert (done.stdout, done.stderr) == ("3\n", "")
