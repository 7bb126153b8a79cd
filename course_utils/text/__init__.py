"""The corpora of the course and the tokenizers built in it. Everything here is our own text, or ships with a package."""
