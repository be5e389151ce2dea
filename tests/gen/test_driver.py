# SPDX-License-Identifier: Apache-2.0
"""Tests the table of the CUDA driver (gen/driver.py): the functions and codes that are generated
for the library and for the double, and the check against CUDA's headers, which must find every
difference. The headers are stand-ins with just enough declarations."""
import unittest

from library_case import LibraryCase, loaded
from support import HEAD

TWO = """[CUresult]
kind = type
type = int

[CUevent]
kind = type
type = void *

[cuStart]
kind = function
args = void
required = yes

[cuElapsed]
kind = function
args = float *, CUevent
required = no
names = cuElapsed_v2 cuElapsed
since = 12000

[CUDA_ERROR_GONE]
kind = code
value = 4
fatal = yes
ours = GPU_GONE

[CUDA_ERROR_BUSY]
kind = code
value = 600

[CU_DEVICE_ATTRIBUTE_CLOCK]
kind = attribute
value = 13
field = clock_khz

[CU_MODE]
kind = constant
value = 2
ours = GPU_MODE
"""
# Enough of a cuda.h and a gpu.h for the table above.
HEADERS = {
    "cuda.h": """#define CUDA_VERSION 12080
#define cuElapsed cuElapsed_v2
typedef enum { CUDA_ERROR_GONE = 4, CUDA_ERROR_BUSY = 600 } CUresult;
enum { CU_DEVICE_ATTRIBUTE_CLOCK = 13, CU_MODE = 2 };
typedef struct event_of_cuda *CUevent;
typedef struct stream_of_cuda *CUstream;
CUresult cuElapsed(float *ms, CUevent event);
""",
    "cudaProfiler.h": "CUresult cuStart(void);\n",
    "gpu/gpu.h": "enum { GPU_GONE = 4, GPU_MODE = 2 };\n",
}


class Driver(LibraryCase):
    SOURCE = TWO
    OUTPUTS = ("driver_table.inc", "driver_calls.inc", "cuda_codes.inc", "driver_double.inc",
               "driver_check.c")
    CHECK = "driver_check.c"
    HEADERS = HEADERS

    def test_table(self):
        self.assert_golden("driver_table.inc", TWO, HEAD + """typedef int CUresult;
typedef void *CUevent;
struct driver {
    CUresult (*cuStart)(void);
    CUresult (*cuElapsed)(float *, CUevent);
};
/* names in order of preference, where it goes, whether it must be there */
static const struct driver_symbol driver_symbols[] = {
    {{"cuStart"}, offsetof(struct driver, cuStart), 1},
    {{"cuElapsed_v2", "cuElapsed"}, offsetof(struct driver, cuElapsed), 0},
};
static const struct driver_attribute driver_attributes[] = {
    {13, offsetof(struct gpu_device, clock_khz)},
};
""")

    def test_calls(self):
        self.assert_golden("driver_calls.inc", TWO, HEAD + """\
static const char *const driver_calls[] = {
    "cuStart",
    "cuElapsed_v2",
    "cuElapsed",
};
""")

    def test_codes(self):
        self.assert_golden("cuda_codes.inc", TWO, HEAD + """\
/* code, whether no call can be right after it, name */
static const struct cuda_code_row cuda_codes[] = {
    {4, 1, "CUDA_ERROR_GONE"},
    {600, 0, "CUDA_ERROR_BUSY"},
};
#define CUDA_NUMBERS(IS) \\
    IS(GPU_GONE, 4) \\
    IS(GPU_MODE, 2)
""")

    def test_double(self):
        self.assert_golden("driver_double.inc", TWO, HEAD + """typedef int CUresult;
typedef void *CUevent;
enum double_function {
    DOUBLE_cuStart,
    DOUBLE_cuElapsed,
    DOUBLE_FUNCTIONS
};
const char *const double_names[DOUBLE_FUNCTIONS + 1] = {
    "cuStart",
    "cuElapsed",
    NULL};
static CUresult double_cuStart(void);
DOUBLE_EXPORT CUresult cuStart(void);
DOUBLE_EXPORT CUresult cuStart(void) {
    int code = double_enter(DOUBLE_cuStart);
    return double_leave(DOUBLE_cuStart, code ? code : double_cuStart());
}
__attribute__((unused)) static CUresult double_cuElapsed(float *a, CUevent b);
#ifndef DOUBLE_OLD
DOUBLE_EXPORT CUresult cuElapsed_v2(float *a, CUevent b);
DOUBLE_EXPORT CUresult cuElapsed_v2(float *a, CUevent b) {
    int code = double_enter(DOUBLE_cuElapsed);
    return double_leave(DOUBLE_cuElapsed, code ? code : double_cuElapsed(a, b));
}
DOUBLE_EXPORT CUresult cuElapsed(float *a, CUevent b);
DOUBLE_EXPORT CUresult cuElapsed(float *a, CUevent b) {
    int code = double_enter(DOUBLE_cuElapsed);
    return double_leave(DOUBLE_cuElapsed, code ? code : double_cuElapsed(a, b));
}
#endif
""")

    def test_check(self):
        self.assert_golden("driver_check.c", TWO, HEAD + """#include <cuda.h>
#include <cudaProfiler.h>

#include "gpu/gpu.h"

#define SAME(name, type) __builtin_types_compatible_p(__typeof__(&name), type)

_Static_assert(sizeof(CUresult) == sizeof(int), "CUresult");
_Static_assert(sizeof(CUevent) == sizeof(void *), "CUevent");
_Static_assert(SAME(cuStart, CUresult (*)(void)), "cuStart");
#if CUDA_VERSION >= 12000
_Static_assert(SAME(cuElapsed, CUresult (*)(float *, CUevent)), "cuElapsed");
#endif
_Static_assert((int)CUDA_ERROR_GONE == 4, "CUDA_ERROR_GONE");
_Static_assert((int)GPU_GONE == 4, "GPU_GONE");
_Static_assert((int)CUDA_ERROR_BUSY == 600, "CUDA_ERROR_BUSY");
_Static_assert((int)CU_DEVICE_ATTRIBUTE_CLOCK == 13, "CU_DEVICE_ATTRIBUTE_CLOCK");
_Static_assert((int)CU_MODE == 2, "CU_MODE");
_Static_assert((int)GPU_MODE == 2, "GPU_MODE");
""")

    def test_check_finds_every_difference(self):
        self.assert_check_finds(
            ("args = float *, CUevent", "args = float *, CUstream", "cuElapsed"),
            ("args = float *, CUevent", "args = float *", "cuElapsed"),
            ("args = float *, CUevent", "args = double *, CUevent", "cuElapsed"),
            ("args = void", "args = int", "cuStart"),
            ("type = void *", "type = int", "CUevent"),
            ("value = 600", "value = 601", "CUDA_ERROR_BUSY"),
            ("value = 4\n", "value = 5\n", "GPU_GONE"),
            ("value = 13", "value = 14", "CU_DEVICE_ATTRIBUTE_CLOCK"),
            ("value = 2\n", "value = 1\n", "GPU_MODE"))

    def test_refused(self):
        self.refuse("kind = type", "kind = typo",
                    "[CUresult]: unknown kind 'typo' (function|type|code|attribute|constant)")
        self.refuse("kind = type\n", "", "[CUresult]: no key 'kind'")
        self.refuse("required = yes\n", "", "[cuStart]: no key 'required'")
        self.refuse("required = yes", "required = maybe",
                    "[cuStart]: unknown required 'maybe' (yes|no)")
        self.refuse("fatal = yes", "fatal = 1", "[CUDA_ERROR_GONE]: unknown fatal '1' (yes|no)")
        self.refuse("value = 4\n", "value = four\n",
                    "[CUDA_ERROR_GONE]: value 'four' is not a number")
        self.refuse("since = 12000", "since = 12.0", "[cuElapsed]: since '12.0' is not a number")
        self.refuse("value = 600", "value = 4",
                    "[CUDA_ERROR_BUSY]: value '4' is also that of [CUDA_ERROR_GONE]")
        self.refuse("[cuStart]", "[cu-start]", "[cu-start]: name 'cu-start' is not a C identifier")
        self.refuse("names = cuElapsed_v2 cuElapsed", "names = a b c",
                    "[cuElapsed]: more than 2 names")
        self.refuse("field = clock_khz", "field = clock_khz\nfatal = no",
                    "[CU_DEVICE_ATTRIBUTE_CLOCK]: unknown key 'fatal'")


class Required(unittest.TestCase):
    def test_the_eleven(self):
        """A driver that has these can be used; more may not be asked for by accident."""
        symbols = loaded("driver_table.inc", "driver.ini")
        self.assertEqual(sorted(name for name in symbols if symbols[name]), [
            "cuCtxGetCurrent", "cuEventCreate", "cuEventDestroy_v2", "cuEventElapsedTime_v2",
            "cuEventQuery", "cuEventRecord", "cuEventSynchronize", "cuProfilerStart",
            "cuProfilerStop", "cuStreamIsCapturing", "cuThreadExchangeStreamCaptureMode"])


if __name__ == "__main__":
    unittest.main()
