"""`python -m docs.generator` writes every page of docs/reference."""

from pathlib import Path

from docs.generator.pages import PAGES

REFERENCE = Path(__file__).parents[1] / "reference"


def main() -> None:
    """Write every page."""
    for name, make in PAGES.items():
        (REFERENCE / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
