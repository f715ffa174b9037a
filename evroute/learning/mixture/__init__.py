"""Mixture: two beliefs of whole trips, weighed by the trips that both expected."""
