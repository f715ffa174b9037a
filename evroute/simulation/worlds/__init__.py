"""Worlds: what is true of energies and travel times, one file for each kind, and the table of their names."""
