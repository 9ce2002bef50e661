"""What was measured, in one form: rows of the store, of tables and of papers, their score, and two rows compared."""
