"""What only the sandbox sees."""
