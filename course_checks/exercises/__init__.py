"""The exercises as data: a folder for each chapter, found by the engine through an exercise's id ("03.2" is in ``ch03``)."""
