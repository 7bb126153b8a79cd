"""Figures and widgets of the course. Import what a chapter needs from the modules; nothing heavy is loaded here."""
