"""What is wrong with a result: guards against numbers that cannot be."""
