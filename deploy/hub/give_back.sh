#!/bin/sh
# give_back.sh GRADES SUBMISSIONS [FOLDER]: every student's feedback page into their home, as attention/feedback.html, theirs alone. As root.
#
# SUBMISSIONS is what collect.sh has made: its folders are the users' names. The page is written as the student: a link that somebody has
# put in the way leads nowhere that they could not write to themselves.
grades=$1 submissions=$2 folder=${3:-attention} missed=0
for own in "$submissions"/*/; do
  name=$(basename "$own")
  number=$(printf '%s ' "$name" | sha256sum | cut -c 1-8) # as `course.py grade` names the page of a student known by name alone
  page=$(find "$grades/feedback" -name "*-$number.html")
  if [ -n "$page" ] && [ "$(id -u "$name" 2>/dev/null || echo 0)" -ge 1000 ] &&
    su "$name" -s /bin/sh -c 'umask 077 && cd ~/'"$folder"' && cat > .feedback.part && mv .feedback.part feedback.html' < "$page"; then
    echo "$name: ~/$folder/feedback.html"
  else
    echo "$name: not given back" >&2
    missed=1
  fi
done
exit $missed
