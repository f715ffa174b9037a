"""Roads of a belief: their lines, and finding them again in another network."""
