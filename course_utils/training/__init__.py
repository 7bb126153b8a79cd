"""Device choice, and one small training loop with a progress bar."""
