"""Presentation of results: the ranking, the tables in the terminal, the HTML page."""
