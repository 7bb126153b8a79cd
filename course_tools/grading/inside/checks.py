"""Inside the sandbox there is nothing to check against: the judge is outside. Copied there as ``course_checks/__init__.py``."""


class Unchecked:
    """What ``check`` returns here: later cells go on with the learner's own version."""

    passed, points, possible, stage, mistake, hint = False, 0.0, 0.0, "not judged here", None, None

    def __init__(self, use=None):
        self.use = use

    def show(self):
        """Nothing to show."""


def check(exercise, answer=None, *more, **options):
    """Hand the answer back."""
    return Unchecked(answer)


VERSIONS: dict = {}  # of exercises of other chapters that this notebook goes on with: name and text, from the judge


def mine(exercise):
    """The course's version: another notebook of the same hand-in is not here, and no right answer of this notebook is."""
    name, text = VERSIONS[exercise]
    space = {"__name__": "course_utils.version"}
    exec(text, space)
    return space[name]


def progress(reset=False):
    """Nothing is known of progress here."""


def catalogue():
    """No exercises."""
    return []


CheckResult, CheckFailed = Unchecked, AssertionError
