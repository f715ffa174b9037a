"""Maps, charts, pages and exports. Functions return objects and never draw to a screen."""
