"""Maps, charts, pages and exports. Functions return objects and never draw to a screen.

Readers of runs, tables, words, lines, colours and each kind of export have a module of their own
here. Charts, maps and whole pages lie in the folders.
"""
