"""The course as a static site: pages from the executed notebooks, answers apart, indexes, checked links, a PDF."""
