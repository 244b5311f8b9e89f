"""The corridor every room opens on: nouns, errors, the registry, the measure language."""
