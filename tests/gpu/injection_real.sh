#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# injection_real.sh PROGRAM: with the real CUDA driver and CUPTI, with or without a GPU, no device
# is opened and CUPTI is not loaded before the program calls cuInit, and within it CUPTI is.
# STINT_CUDA_LIB and STINT_CUPTI_LIB say where they are if the dynamic linker does not know. The
# driver may create device files in /dev.
program=$1
driver=${STINT_CUDA_LIB:-libcuda.so.1}
export STINT_GPU=cupti STINT_CUDA_LIB="$driver"
unset CUDA_INJECTION64_PATH

if ! command -v strace >/dev/null; then
    echo "no strace"
    exit 77
fi
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
