"""For authors and instructors, not in a hand-out: ``authoring`` makes notebooks and the book, ``grading`` marks a class."""
