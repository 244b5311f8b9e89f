"""Arrays from disk: what karat did not write so is one sentence, not a traceback."""

import numpy as np
import pytest

from karat.core.errors import InputError
from karat.io.arrays import mapped_array


def npy(header):
    """A .npy file of four numbers with this header."""
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(16)


def test_an_array_comes_back_as_it_was(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    assert mapped_array(tmp_path / "a.npy", np.float32, 2).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), ", "cut off or no array"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': ((((((", "cut off or no array"),
        ("'''", "cut off or no array"),
        ("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "cut off or no array"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (10**40,), }", "cut off or no array"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,), }", "cut off or no array"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", "of another kind"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }", "of another kind"),
        ("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", "in another order"),
    ],
)
def test_a_header_that_karat_did_not_write(tmp_path, header, problem):
    (tmp_path / "a.npy").write_bytes(npy(header))
    with pytest.raises(InputError, match=f"a.npy: is damaged: .*{problem}.*Index the documents again"):
        mapped_array(tmp_path / "a.npy", np.float32, 2)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04", b"\x80\x04K\x01."])
def test_a_file_that_is_no_array_at_all(tmp_path, content):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.npy: is damaged: it is cut off or no array"):
        mapped_array(tmp_path / "a.npy", np.float32, 2)


def test_a_file_that_is_missing(tmp_path):
    with pytest.raises(InputError, match=r"a\.npy: is missing"):
        mapped_array(tmp_path / "a.npy", np.float32, 2)
