import io
import sys
from contextlib import redirect_stdout

import pytest
from gallery import copied, ran


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    """The values of the plain function of the gallery, by question."""
    folder = copied(tmp_path_factory.mktemp("plain"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        with redirect_stdout(io.StringIO()):
            (values,) = ran(folder / "function.py")["report"].values()
    sys.modules.pop("island", None)
    return values
