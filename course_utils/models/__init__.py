"""Reference models of the course: short, typed, each proved equal to an independent implementation."""
