#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# nsys_count_test.sh FOLDER: nsys_count.sh on tables with the headers that versions of nsys print
# (the reports cuda_gpu_kern_sum and cuda_gpu_mem_time_sum, and their older names gpukernsum and
# gpumemtimesum), and on tables that it cannot read.
set -euo pipefail
count=$(dirname "${BASH_SOURCE[0]}")/nsys_count.sh
table=$(mktemp "$1/nsys-XXXXXX.csv")
trap 'rm -f "$table"' EXIT
failed=0

# expect WANT TEXT: of the table on standard input; "" = exit status 1.
expect() {
    local got
    cat >"$table"
    got=$(bash "$count" "$table" "$2") || got=
    if [ "$got" != "$1" ]; then
        echo "nsys_count_test.sh: '$got', not '$1':" >&2
        cat "$table" >&2
        failed=1
    fi
}

expect 100 spin_kernel <<'END'
Processing [run.sqlite] with [cuda_gpu_kern_sum.py]...

Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
60.0,200000000,7,2000000.0,2000001.0,1999000,2010000,100.0,"other(int, float)"
40.0,200000000,100,2000000.0,2000001.0,1999000,2010000,100.0,"real_spin_kernel(unsigned long, unsigned long *)"
END
expect 100 spin_kernel <<'END'
"Time(%)","Total Time (ns)","Instances","Average","Minimum","Maximum","Name"
100.0,200000000,100,2000000.0,1999000,2010000,"real_spin_kernel(unsigned long, unsigned long *)"
END
expect 40 Host-to-Device <<'END'
Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation
100.0,99000,40,1000.0,1000.0,900,1100,10.0,[CUDA memcpy Host-to-Device]
END
expect 12 HtoD <<'END'
Time(%),Total Time (ns),Operations,Average,Minimum,Maximum,Operation
100.0,99000,12,1000.0,900,1100,[CUDA memcpy HtoD]
END
expect 5 "a, b" <<'END'
Name,Time (%),Instances
"k<a, b>(int)",100.0,5
END
expect "" spin_kernel <<'END'
Time (%),Total Time (ns),Instances,Name
100.0,200000000,100,"another"
END
expect "" spin_kernel <<'END'
Time (%),Total Time (ns),Name
100.0,200000000,"real_spin_kernel"
END
expect "" spin_kernel </dev/null
exit $failed
