"""Results: what karat found, as plain frozen data that every report shows."""
