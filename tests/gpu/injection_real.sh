#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# injection_real.sh PROGRAM [FOLDER]: with the real CUDA driver and CUPTI, with or without a GPU, no
# device is opened and CUPTI is not loaded before the program calls cuInit, and within it CUPTI is.
# STINT_CUDA_LIB and STINT_CUPTI_LIB say where they are if the dynamic linker does not know; without
# them, on a machine without a driver, those that libraries/fetch.sh put into FOLDER are taken. The
# driver may create device files in /dev.
program=$1
fetched=$2
if [ -z "${STINT_CUDA_LIB:-}" ] && ! "$program" >/dev/null 2>&1; then
    STINT_CUDA_LIB=$(find "$fetched/driver-550" -name libcuda.so.1 2>/dev/null)
    STINT_CUPTI_LIB=$(find "$fetched/cupti-12.4" -name libcupti.so.12 2>/dev/null)
    export STINT_CUPTI_LIB
fi
driver=${STINT_CUDA_LIB:-libcuda.so.1}
export STINT_GPU=cupti STINT_CUDA_LIB="$driver"
unset CUDA_INJECTION64_PATH

# A container may refuse it; and LeakSanitizer does not work under it.
if ! strace -o /dev/null true 2>/dev/null; then
    echo "no strace, or not allowed"
    exit 77
fi
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
"$program" "$driver" >/dev/null 2>&1
if [ $? -eq 77 ]; then
    echo "no CUDA driver $driver"
    exit 77
fi
calls=$(mktemp) || exit 1
trap 'rm -f "$calls"' EXIT
if ! strace -f -e trace=openat,open,access,faccessat,faccessat2 -o "$calls" "$program" "$driver"; then
    echo "strace or the program failed"
    exit 1
fi
if ! grep -q 'libcupti.*= [0-9]' "$calls"; then
    echo "no CUPTI"
    exit 77
fi
early=$(sed '/mark-of-cuInit/,$d' "$calls" | grep -E '/dev/nvidia|libcupti')
if [ -n "$early" ]; then
    echo "before cuInit:"
    echo "$early"
    exit 1
fi
if ! sed -n '/mark-of-cuInit/,/mark-of-return/p' "$calls" | grep -q 'libcupti.*= [0-9]'; then
    echo "the driver did not call InitializeInjection within cuInit"
    exit 1
fi
