"""What people see while they wait and read: printed tables, estimates, the progress of trials."""
