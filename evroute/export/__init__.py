"""A belief in the numbers that other planners ask for.

`targets.TARGETS` lists the planners, each with a module of its own.
"""
