"""The pieces that move, outside JupyterLab: their modules as scripts, a page for each of them, its picture."""
