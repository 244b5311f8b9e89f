"""python -m karat: the same as the command karat."""

from karat.cli.main import main

main()
