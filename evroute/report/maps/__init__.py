"""Maps (folium) that draw without a network, and what they are made of."""
