#!/bin/sh
# Gradescope runs this once, as root, when it makes the image: /autograder/source holds what build.py has packed.
set -e
cd /autograder/source
for python in python3.14 python3.13 python3.12 python3.11 python3; do
    command -v "$python" > /dev/null && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' && break
    python=
done
if [ -z "$python" ]; then
    echo "The course needs Python 3.11 or newer: choose a newer base image in Gradescope, or install one here." >&2
    exit 1
fi
"$python" -c 'from course_utils.launcher import setup; setup.set_up(torch="cpu")' # the packages of requirements.lock, as for a learner
# A submission runs as another user: it may use Python's packages, and nothing else that lies here.
chmod -R go-rwx course_utils course_checks course_tools chapters
chmod go-rwx ./* && chmod 711 /autograder/source
chmod 700 run_autograder setup.sh
