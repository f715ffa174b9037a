"""Learning from measured trips: tables, beliefs on disk."""
