"""No cases yet."""
