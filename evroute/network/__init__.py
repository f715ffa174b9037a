"""Roads: networks, legal turns, heights and contexts. No energy and no learning."""
