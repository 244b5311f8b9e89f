"""Reader: what a file of this room registers, and which reader a file is given to.

A module `corpus/readers/<name>.py` defines `READER`, a Reader; a plug-in names one under the entry-point group
`karat.readers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from karat.core.docs import Doc
from karat.core.registry import Registry, instance_of
from karat.corpus._file import File, ReadError, as_read_errors
from karat.io.decoding import cleaned, is_binary
from karat.io.limits import raise_limit


@dataclass(frozen=True)
class Reader:
    """One kind of file that documents are read from.

    `sniff` looks at content: True, it is of this kind; False, it cannot be; None, the file's name decides. `read` may
    raise ReadError for the whole file, and says everything less by the file's `problem`. It is called in a process of
    its own, within limits, unless the file has fewer than `in_place_below` bytes: whatever such a file holds, it is
    read in little time and memory.
    """

    name: str
    about: str  # one line
    endings: tuple[str, ...]  # of file names, lower case, with the dot
    sniff: Callable[[File], bool | None]
    read: Callable[[File], Iterator[Doc]]
    in_place_below: float = 0


READERS = Registry("reader", ("karat.corpus.readers",), "karat.readers", instance_of(Reader, "READER"))

_OCR, _UNPACK = "Text in images needs OCR.", "Unpack it."
_SIGNS = (  # first bytes, what they tell, what to do, and whether documents may be lost in it
    (b"\x89PNG", "an image", _OCR, False),
    (b"\xff\xd8\xff", "an image", _OCR, False),
    (b"GIF8", "an image", _OCR, False),
    (b"II*\0", "an image", _OCR, False),
    (b"MM\0*", "an image", _OCR, False),
    (b"RIFF", "an image, sound or film", _OCR, False),
    (b"PK\x03\x04", "an archive (zip)", _UNPACK, True),
    (b"PK\x05\x06", "an empty archive (zip)", "", True),
    (b"7z\xbc\xaf\x27\x1c", "an archive (7z)", _UNPACK, True),
    (b"Rar!", "an archive (rar)", _UNPACK, True),
    (b"BZh", "an archive (bzip2)", _UNPACK, True),
    (b"\xfd7zXZ", "an archive (xz)", _UNPACK, True),
    (b"\x28\xb5\x2f\xfd", "an archive (zstd)", _UNPACK, True),
    (
        b"\xd0\xcf\x11\xe0",
        "an old Office file (doc, xls, ppt) or an encrypted one",
        "Save it as docx without a password, or as PDF.",
        True,
    ),
    (b"\x7fELF", "a program", "", True),
    (b"MZ", "a program", "", True),
    (b"SQLite format 3", "a database", "Export its texts as JSONL or CSV.", True),
)
_ASSETS = frozenset((
    ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".bmp", ".tif", ".tiff", ".css", ".js", ".mjs", ".map",
    ".woff", ".woff2", ".ttf", ".otf", ".eot", ".mp3", ".wav", ".ogg", ".flac", ".mp4", ".webm", ".mov", ".avi",
))  # fmt: skip


def readable() -> str:
    """Endings of every kind of file that can be read, for messages."""
    return " ".join(sorted({ending for reader in READERS for ending in reader.endings}))


def reader_of(file: File) -> Reader:
    """The reader for a file: by its content where that is certain, else by its name; ReadError where there is none."""
    if not file.head and not file.is_dataset_id:
        raise ReadError("empty", "is empty (0 bytes).", "Leave it out, or restore it.")
    opinions = [(reader, reader.sniff(file)) for reader in READERS]
    sure = [reader for reader, opinion in opinions if opinion is True]
    fitting = [reader for reader in sure if file.ending in reader.endings]
    if fitting:
        return fitting[0]
    if sure:
        if file.ending:
            reason = f"is named {file.ending} but holds {sure[0].about}; read as {sure[0].name}."
            file.problem("misnamed", reason, "Rename it.")
        return sure[0]
    by_name = [(reader, opinion) for reader, opinion in opinions if file.ending in reader.endings]
    for reader, opinion in by_name:
        if opinion is None:
            return reader
    for sign, what, remedy, is_loss in _SIGNS:
        if file.head.startswith(sign) and (sign != b"MZ" or is_binary(file.head)):
            raise ReadError("unsupported", f"is {what}, which is not read.", remedy, fatal=is_loss)
    if by_name:
        reason = f"is named {file.ending} but holds no {by_name[0][0].name}."
        raise ReadError("broken", reason, "Make or download it again.")
    if not is_binary(file.head) and (file.named or not file.ending):
        if file.ending:
            file.problem("misnamed", f"has the unknown ending {file.ending}; read as plain text.")
        return READERS.get("text")
    what = "is a binary file" if is_binary(file.head) else "is no kind of document that is read"
    ending = f" (ending {file.ending})" if file.ending else ""
    raise ReadError("unsupported", f"{what}{ending}.", f"Readable: {readable()}.", fatal=file.ending not in _ASSETS)


def content_of(file: File, reader: Reader) -> tuple[list[Doc], ReadError | None]:
    """The documents of a file, and why no more of them were read, where something went wrong."""
    docs: list[Doc] = []
    try:
        with as_read_errors():
            left = file.limits.text(file.size)
            for doc in reader.read(file):
                left -= len(doc.text)
                if left < 0:
                    most = f"{file.limits.text(file.size) >> 20:,} MB"
                    raise ReadError("limit", f"holds more than {most} of text.", raise_limit("max-text", "text_mb"))
                docs.append(doc)
    except ReadError as fault:
        return docs, fault
    except MemoryError:
        docs.clear()
        return docs, out_of_memory(file)
    except Exception as error:
        return docs, unforeseen(error)
    return docs, None


def unforeseen(error: Exception) -> ReadError:
    """What is said of a file at which a reader itself failed."""
    what = cleaned(str(error)).split("\n")[0][:200]
    reason = f"could not be read ({type(error).__name__}: {what})."
    return ReadError("failed", reason, "Please report this file's kind.")


def out_of_memory(file: File) -> ReadError:
    """What is said of a file that takes more memory than it may."""
    most = f"{file.limits.memory(file.size) >> 20:,} MB"
    return ReadError("limit", f"takes more than {most} of memory to read.", raise_limit("max-memory", "memory_mb"))
