"""Routes from weights: a search and its weight rules, batteries, time limits, and plans."""
