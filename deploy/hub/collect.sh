#!/bin/sh
# collect.sh EXCHANGE SUBMISSIONS [--by-folder]: the newest zip of every student, for  course.py grade SUBMISSIONS --out GRADES
#
# Whose a file is says the system (its owner), not its name; when it was handed in says its inode's time, which a student cannot put back.
# --by-folder: in containers all students are often one user to the system; then each has a folder of their own mounted (EXCHANGE/NAME),
# and that name counts. Links are not followed, and names that hand_in() does not give are passed over.
set -u
exchange=$1 out=$2 depth=1
[ "${3:-}" = --by-folder ] && depth=2
mkdir -p "$out" || exit 2
find "$exchange" -mindepth $depth -maxdepth $depth -type f -name '*.zip' ! -name '*[!A-Za-z0-9._-]*' -size -200M -printf '%C@ %u %f %h\n' |
sort -n | while read -r when owner file folder; do
  [ $depth = 2 ] && owner=${folder##*/}
  case $owner in .* | *[!A-Za-z0-9._@-]*) echo "passed over: $folder/$file" >&2; continue ;; esac
  mkdir -p "$out/$owner" && cp -P "$folder/$file" "$out/$owner/.part" && touch -h -d "@$when" "$out/$owner/.part" &&
    mv "$out/$owner/.part" "$out/$owner/answers.zip" && echo "$owner $(date -d "@$when" '+%Y-%m-%d %H:%M:%S')"
done | awk '{ last[$1] = $0 } END { for (who in last) { print last[who]; n++ } print n + 0 " students" }' | sort
