"""Routes from weights: one search and its weight rules, batteries, time limits, and plans side by side."""
