"""Routes from weights: a search and its weight rules, batteries, time limits, and plans.

A plan and each kind of answer to many requests (batches, matrices in memory and in files, ranges)
has a module of its own here. The parts that they share lie in the folders.
"""
