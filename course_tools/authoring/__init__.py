"""From one text file a chapter to its two notebooks, and the coverage of the ledger.

``source`` reads ``solutions/NN_slug.md`` (``blank``: the two forms of an answer; ``chapter``: what comes of it), ``execute``
runs a notebook, ``outputs`` cleans and judges what came out, ``stored`` compares with and writes the notebooks on disk,
``uses`` knows what a chapter imports, ``load`` measures what a reader has to take in, ``ledger`` lists which topics are
still missing; ``build`` is the command that ties them together. ``slider_frames`` makes pictures move in the book.
"""
