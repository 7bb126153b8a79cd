"""Device and seed choice, and one small training loop with a progress bar."""
