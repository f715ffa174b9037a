"""Maps (folium) that draw without a network, and their parts."""
