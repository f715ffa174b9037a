"""Choosing: indices of base arms and the agent that turns them into routes.

No truth and no simulation here.
"""
