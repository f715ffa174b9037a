"""Searches: cheapest routes on the line graph, by one or two costs."""
