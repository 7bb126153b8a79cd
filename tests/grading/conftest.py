"""What several tests of grading share."""

from collections.abc import Iterator

import pytest

from course_tools.grading.sandbox import Sandbox


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """A sandbox with a gigabyte for each submission."""
    with Sandbox(memory=2**30) as sandbox:
        yield sandbox
