"""Trips of a user's own: tables of measurements, a belief from them, and what planning on it would save."""
