"""Builders: one noun of `results` a file, each making a document of it. No medium is mentioned here."""
