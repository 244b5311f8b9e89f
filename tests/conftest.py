"""What holds for every test."""

MARKED = ("sbert", "chroma", "browser", "slow", "local")


def pytest_terminal_summary(terminalreporter, config):
    """Say which tests a plain run leaves out."""
    left_out = [mark for mark in MARKED if f"not {mark}" in config.option.markexpr]
    if left_out:
        terminalreporter.write_line(
            f"not run: tests marked {', '.join(left_out)} (pytest -m MARK runs them, and CI all)"
        )
