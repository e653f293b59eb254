"""Pictures in SVG: how they are drawn, the bytes of a message, bars beside tables of figures."""
