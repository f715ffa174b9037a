"""Experiments: the loop of Algorithm 1, regret, run folders.

What an experiment is, how its runs are played and how engines share them out have modules of
their own here, and each uses the ones before it.
"""
