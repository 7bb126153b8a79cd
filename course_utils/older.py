"""What to say where a notebook and the package are not of one day. Standard library only."""

from .paths import PACKAGE


def older(error):
    """What to tell where a notebook imports from the course what the package does not have; nothing for any other error."""
    if not isinstance(error, ImportError) or str(error.name).split(".")[0] not in ("course_utils", "course_checks"):
        return ""
    return (
        f"This notebook is newer than the course's package in {PACKAGE.parent}: {str(error).split(' (')[0]}. Both have to be of one day. "
        "On a hub, stop your server (File, Hub Control Panel) and start it again; elsewhere, bring the course and its package up to date."
    )
