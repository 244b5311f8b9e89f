"""beir: the corpus.jsonl of a BEIR folder, beside its queries and judgements; read as any JSONL."""

from __future__ import annotations

from dataclasses import replace

from karat.corpus._file import File
from karat.corpus.readers import jsonl


def _sniff(file: File) -> bool | None:
    name = file.path.name.lower().removesuffix(".gz")
    return name == "corpus.jsonl" and file.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


READER = replace(jsonl.READER, name="beir", about="a BEIR corpus", endings=(".jsonl",), sniff=_sniff)
