"""A small HTTP service: plans, and beliefs that learn measured trips."""
