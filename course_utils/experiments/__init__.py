"""What one chapter alone trains or measures; each file carries its chapter's name.

``train`` makes a fresh model and trains it; ``learn`` (or a plainer word: ``teach``, ``tune``) trains one it is given.
An experiment may use models, text and training, but nothing of another chapter.
"""
