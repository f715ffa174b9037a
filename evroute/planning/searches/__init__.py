"""Searches: cheapest routes on the line graph, by one or two costs.

They are one room, since each is made of the others: a request's problem (`between`, `halt_roads`)
has legs, legs have searches and ends, and the loops of labels, stops and trees drive over them.
"""
