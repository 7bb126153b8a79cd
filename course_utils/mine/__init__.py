"""The reader's own Transformer: answers kept so that they run by themselves, the machine drawn, and all of it in one file."""
