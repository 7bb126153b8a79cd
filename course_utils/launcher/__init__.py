"""What `course.py` runs: set-up, the learner's copies, handing in. Standard library only."""
