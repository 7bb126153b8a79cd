"""What one chapter alone trains or measures; each file carries its chapter's name."""
