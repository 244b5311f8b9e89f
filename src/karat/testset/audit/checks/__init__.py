"""Checks of the audit: one a file. See `karat.testset.audit`."""
