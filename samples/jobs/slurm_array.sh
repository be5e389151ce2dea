#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Merges the run files of a job as an array job of Slurm: each task a part of the files, and a last
# job the parts.
#
#     id=$(sbatch --parsable slurm_array.sh RUNS PARTS)
#     sbatch --dependency="afterok:$id" --wrap "stint merge PARTS -o all.stint"
#
# RUNS is the folder with the run files, PARTS one that all tasks see.
#SBATCH --job-name=stint-merge
#SBATCH --array=0-15
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --time=00:10:00
set -eu
runs=${1:?usage: slurm_array.sh RUNS PARTS}
parts=${2:?usage: slurm_array.sh RUNS PARTS}
count=${SLURM_ARRAY_TASK_COUNT:?not a task of an array job}
task=$((SLURM_ARRAY_TASK_ID - ${SLURM_ARRAY_TASK_MIN:-0}))
mkdir -p "$parts"
list=$(mktemp)
trap 'rm -f "$list"' EXIT

# Every count-th file, so that all tasks have as many.
find "$runs" -name '*.stint' | sort | awk -v count="$count" -v task="$task" \
    'NR % count == task' >"$list"
[ -s "$list" ] || exit 0
# The line about ranks that other tasks have says nothing here.
status=0
xargs -d '\n' stint merge -o "$parts/part-$task.stint" <"$list" 2>"$list.lines" || status=2
grep -v ': ranks .*without a file: ' "$list.lines" >&2 || true
rm -f "$list.lines"
exit "$status"
