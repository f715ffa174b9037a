"""Plans of several trips: the charge that a day needs, and tours over many places."""
