"""Every changed bit is noticed."""

import hashlib
import zlib

import pytest

from karat.io.checksum import DamagedError, crc32, digest, file_crc32, file_sha256, sealed, sealed_line, unsealed
from karat.io.checksum import unsealed_line as record_of


def flipped(data):
    for place in range(len(data)):
        for bit in range(8):
            yield data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def test_a_file_has_the_checksum_of_its_bytes(tmp_path):
    data = b"karat" * 500_000
    (tmp_path / "a").write_bytes(data)
    assert file_crc32(tmp_path / "a") == crc32(data) == f"{zlib.crc32(data):08x}"
    assert file_sha256(tmp_path / "a") == hashlib.sha256(data).hexdigest()


def test_values_come_back_without_their_seal_and_not_when_they_were_changed():
    values = {"b": 1, "a": [0.1, None, "zwei\udc80"], "n": {2: "x"}}
    assert unsealed(sealed(values)) == {"b": 1, "a": [0.1, None, "zwei\udc80"], "n": {"2": "x"}}
    assert sealed(sealed(values)) == sealed(values)
    assert unsealed({"b": 1}) == {"b": 1}  # an earlier version wrote no checksum
    with pytest.raises(DamagedError, match="its checksum differs"):
        unsealed({**sealed(values), "b": 2})
    with pytest.raises(DamagedError):
        unsealed({"b": 1}, strict=True)
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}) != digest({"a": 2, "b": 1})


def test_no_line_with_a_changed_bit_gives_a_record():
    record = {"q": "1\n\u2028", "score": 0.1}
    line = sealed_line(record)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert record_of(line[:-1]) == record
    for damaged in flipped(line[:-1]):
        with pytest.raises(DamagedError):
            record_of(damaged)
    for short in (b"", b"{}", b'{"q":1}'):
        with pytest.raises(DamagedError):
            record_of(short)
