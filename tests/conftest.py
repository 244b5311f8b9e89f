"""What holds for every test."""

from hypothesis import HealthCheck, settings

# How long an example takes to draw says how busy the machine is, not whether the law holds.
settings.register_profile("karat", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("karat")

MARKED = ("sbert", "chroma", "browser", "slow", "local", "fuzz")


def pytest_terminal_summary(terminalreporter, config):
    """Say which tests a plain run leaves out."""
    left_out = [mark for mark in MARKED if f"not {mark}" in config.option.markexpr]
    if left_out:
        terminalreporter.write_line(
            f"not run: tests marked {', '.join(left_out)} (pytest -m MARK runs them, and CI all)"
        )
