# Steps of .ci/run: each says when it starts and ends, and the last lines of a run say what failed.
# Sourced by .ci/run, and by the test of these functions.

steps_folder=build/ci
steps_running= steps_failed= steps_pids=() steps_following=
pauses=${pauses:-10 20 40 80 160 240 350}  # fifteen minutes in all

# step NAME COMMAND...: run it; what it prints is also kept in a file. A failure ends the run.
step() {
  local name=$1 start=$SECONDS code; shift
  mkdir -p "$steps_folder"
  steps_running=$name steps_last=$name
  echo "== $(date +%H:%M:%S) $name"
  # In the background: a shell that waits for a command in the foreground hears no signal. Into a
  # file: a process that outlives its step would keep a pipe open.
  : >"$steps_folder/$name.log"
  "$@" >"$steps_folder/$name.log" 2>&1 & steps_pids=($!)
  tail -n +1 -s 0.2 --pid=$! -f "$steps_folder/$name.log" & steps_following=$!
  wait "${steps_pids[0]}"; code=$?
  wait "$steps_following"; steps_following=
  _ended "$name" "$code" $((SECONDS - start))
  [ "$code" = 0 ] || exit "$code"
  steps_running=
}

# beside NAME COMMAND -- NAME COMMAND...: two at a time, in this order; each prints in one piece when
# it ends. Behind one that failed no other starts.
beside() {
  local names=() name arguments code=0 each ended found  # names by process, so in the order of starts
  mkdir -p "$steps_folder"
  rm -f "$steps_folder"/*.code
  while [ $# -gt 0 ] && [ "$code" = 0 ] || [ ${#names[@]} -gt 0 ]; do
    while [ $# -gt 0 ] && [ "$code" = 0 ] && [ ${#names[@]} -lt 2 ]; do
      name=$1 arguments=(); shift
      while [ $# -gt 0 ] && [ "$1" != -- ]; do arguments+=("$1"); shift; done
      [ $# = 0 ] || shift
      _in_one_piece "$name" "${arguments[@]}" &
      names[$!]=$name
    done
    steps_pids=("${!names[@]}") steps_running=${names[*]}
    ended=
    while [ -z "$ended" ]; do  # `wait -n` misses one that ends before it is called
      sleep 0.1 & wait $!
      for each in "${steps_pids[@]}"; do
        kill -0 "$each" 2>/dev/null || { ended=$each; break; }  # the first of those behind each other
      done
    done
    wait "$ended"; found=$?
    [ "$found" = 0 ] || steps_failed=${steps_failed:-${names[$ended]}}
    [ "$code" != 0 ] || code=$found
    unset "names[$ended]"
  done
  [ "$code" = 0 ] || exit "$code"
  steps_running=
}

_in_one_piece() {
  local name=$1 start=$SECONDS code; shift
  trap 'exit 143' TERM
  "$@" >"$steps_folder/$name.log" 2>&1 &
  wait $!; code=$?
  echo "$code" >"$steps_folder/$name.code"
  { echo "== $name"; cat "$steps_folder/$name.log"; _ended "$name" "$code" $((SECONDS - start)); }
  return "$code"
}

# behind NAME COMMAND...: for a step of `beside` that needs what an earlier one of it brings.
behind() {
  local file=$steps_folder/$1.code; shift
  until [ -s "$file" ]; do sleep 0.1; done
  [ "$(cat "$file")" = 0 ] && "$@"
}

_ended() {
  local word=passed; [ "$2" = 0 ] || { word="FAILED (exit code $2)"; steps_failed=$1; }
  printf '== %s %s: %s after %d:%02d\n' "$(date +%H:%M:%S)" "$1" "$word" $(($3 / 60)) $(($3 % 60))
}

# patiently COMMAND...: for what a registry has to answer; tried again with growing pauses.
patiently() {
  local pause
  for pause in $pauses; do
    "$@" && return
    echo "That did not work; it is tried again in $pause s: $*"
    sleep "$pause"
  done
  "$@"
}

# A signal from outside: what runs ends too, and `story` tells the rest.
stopped() { _end_with_children "${steps_pids[@]}" $steps_following; exit 143; }

# Signals reach neither what a function has started nor what Python waits for: each process is sent its
# own, those that start others first, so that they start no more. /proc is there also without `ps`.
_end_with_children() {
  local found=("$@") at=0 parents
  parents=$(cat /proc/[0-9]*/stat 2>/dev/null | sed -nE 's/^([0-9]+) \(.*\) [A-Za-z] ([0-9]+) .*/\1 \2/p')
  while [ "$at" -lt ${#found[@]} ]; do
    found+=($(awk -v parent="${found[at]}" '$2 == parent {print $1}' <<<"$parents"))
    at=$((at + 1))
  done
  [ ${#found[@]} = 0 ] || kill "${found[@]}" 2>/dev/null
}

# Last lines of a run: what failed, with its own last words; else pytest's summary of the last step.
story() {
  local code=$?
  trap - EXIT
  echo
  if [ "$code" = 0 ]; then
    echo "All steps passed after $((SECONDS / 60)) minutes."
    grep -E '^(passed only when run alone|drawn values|=+ [0-9]+ (passed|failed))' "$steps_folder/$steps_last.log"
    return 0
  fi
  if [ -n "$steps_failed" ]; then
    echo "FAILED: $steps_failed (exit code $code) after $((SECONDS / 60)) minutes. Its last lines:"
    tail -n 25 "$steps_folder/$steps_failed.log"
  else
    echo "ENDED from outside while it ran: ${steps_running:-nothing} (after $((SECONDS / 60)) minutes)"
    for name in $steps_running; do tail -n 15 "$steps_folder/$name.log"; done
    [ ! -s build/failed.txt ] || { echo "Tests that had failed by then:"; tail -n 20 build/failed.txt; }
  fi
  exit "$code"
}
