"""Settings of Sphinx for the readable book; `python course.py book` copies them beside the pages it writes."""

project = "Attention, from Kernels to GPT"
author = "the course's authors"
copyright = "text and figures CC BY 4.0, code MIT"  # noqa: A001
language = "en"

extensions = ["myst_nb", "course_tools.authoring.book.formulas", "course_tools.authoring.book.lighter"]
html_math_renderer = "mathml"  # made when the book is built: a page needs no script for its formulas
nb_execution_mode = "off"  # the notebooks were executed when they were built
nb_code_prompt_show, nb_code_prompt_hide = "Show the code", "Hide the code"  # of a cell whose input is folded
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["static"]
html_extra_path = ["extra"]  # copied as it is: the notebooks to download
html_css_files = ["book.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("book.js", "live.js")]  # in this order: the second works on what the first made
html_favicon = "static/favicon.ico"
html_context = {"default_mode": "auto"}  # unsaid, the theme complains in the console
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "use_download_button": False,
    "navbar_persistent": [],  # the sidebar has the search already
    "show_toc_level": 2,
    "show_navbar_depth": 1,
    "home_page_in_toc": True,
}
