"""Views of a network for other programs: graphs, tables, files and a summary."""
