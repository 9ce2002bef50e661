"""What is asked for, checked as a whole, and turned into trials."""
