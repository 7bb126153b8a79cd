"""What one sees while a program works: the seconds, and of pip how many packages it has fetched and installed.

Standard library only, readable by an old Python, like setup.py.
"""

import re
import sys
import threading
import time

PIP = ["--progress-bar", "off"]  # its own would only be seen when it has ended


def how_far(output, installed):
    """What pip's output so far says, such as "37 packages fetched" or "3 of 140 packages installed"; "" before it says anything.

    `installed()` gives the names of the packages that are there.
    """
    chosen = re.search(r"(?m)^Installing collected packages: (.+)\n", output)
    if chosen:
        names = {same(name) for name in chosen.group(1).split(", ")}
        return f"{len(names & {same(name) for name in installed()})} of {len(names)} packages installed"
    found = set(re.findall(r"(?m)^(?:Collecting|Processing) ([^\s<>=!~;(\[]+)", output))  # from an index, from a folder of wheels
    return f"{len(found)} packages fetched" if found else ""


def same(name):
    """A package's name as all its spellings share it."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def follow(child, line, installed):
    """Read what a program prints until it has ended; returns it. The `line` in the terminal grows by what one sees.

    Where there is no terminal, in a log, a line follows after every ten packages.
    """
    start, told, parts = time.time(), "", []
    reader = threading.Thread(target=lambda: parts.extend(child.stdout), daemon=True)
    reader.start()
    while reader.is_alive():
        reader.join(1)
        far = how_far(b"".join(parts).decode("utf-8", "replace"), installed)
        if sys.stdout.isatty():
            print(f"\r{line}{time.time() - start:.0f} s{far and ', ' + far}   ", end="", flush=True)
        elif re.match(r"\d\d", far) and re.sub(r"\d\b", "", far, count=1) != told:  # another ten
            told = re.sub(r"\d\b", "", far, count=1)
            print(f"\n      {far} ... ", end="", flush=True)
    child.wait()
    return b"".join(parts).decode("utf-8", "replace")
