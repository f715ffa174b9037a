"""Charge: routes that keep a reserve, the charge they miss, and charging stops.

They are one room, since each is made of the others: a plan with stops (`stations`) has rows, rows
have searches with bounds, a refusal has the needs of the same searches, and a limit of risk is kept
with and without stops.
"""
