"""Engines that karat builds over chunks: one an entry."""
