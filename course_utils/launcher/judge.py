"""Code from a file of one's own, judged by an exercise. Standard library only, until it runs in the course's environment (:func:`main`)."""

import difflib
import importlib
import importlib.util
import sys
from pathlib import Path


def file_and_name(code):
    """Both halves of ``FILE.py:NAME``. ValueError where there is no such file."""
    file, _, name = code.rpartition(":")
    if not file or not name.isidentifier():
        raise ValueError(f"{code} names no code of yours: write the file and the name in it, such as  attention.py:my_attention")
    path = Path(file).resolve()
    if not path.is_file():
        near = difflib.get_close_matches(path.name, [other.name for other in path.parent.glob("*.py")], 1)
        raise ValueError(f"There is no file {path}." + (f" Did you mean {near[0]}?" if near else ""))
    return str(path), name


def _loaded(file, name):
    """What a file calls ``name``. ValueError where it does not get that far."""
    sys.path.insert(0, str(Path(file).parent))  # it may have neighbours
    spec = importlib.util.spec_from_file_location(f"_{Path(file).stem}", file)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise ValueError(f"{file} cannot be imported, so nothing in it can be judged. It stopped with {text}") from None
    if not hasattr(module, name):
        own = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == spec.name]
        near = difflib.get_close_matches(name, own, 1)
        have = f"Did you mean {near[0]}?" if near else f"It defines {', '.join(own) or 'no function and no class'}."
        raise ValueError(f"{file} has no {name}. {have}")
    return getattr(module, name)


def main(words):
    """Show the panel; 0 when the code is right, 1 when it is not, 2 when there is nothing to judge."""
    file, name, exercise, mask, layout = words
    try:
        answer = _loaded(file, name)
        result = importlib.import_module("course_checks").check(exercise, answer, mask=mask, layout=layout or None)
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0 if result.passed else 1 if result.title else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
