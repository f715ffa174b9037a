"""Fleets: what single cars of one type take more or less than their type, and their errors."""
