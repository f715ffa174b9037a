"""The door: one call for a plan and one for a range, with the defaults that every shell has."""
