"""Every page of the reference, by file name."""

from collections.abc import Callable

from docs.generator.commands import commands
from docs.generator.contracts import contracts
from docs.generator.karat_yaml import karat_yaml
from docs.generator.measures import measures
from docs.generator.parts import parts
from docs.generator.python import python

PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands,
    "measures.md": measures,
    "karat-yaml.md": karat_yaml,
    "parts.md": parts,
    "python.md": python,
    "contracts.md": contracts,
}
