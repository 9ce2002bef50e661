"""What people look at: the ranking, the terminal's tables, the page."""
