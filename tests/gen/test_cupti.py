# SPDX-License-Identifier: Apache-2.0
"""Tests the table of CUPTI (gen/cupti.py): the types and functions that are generated for the
library and for the double, and the check against CUPTI's headers, which must find every difference.
The headers are stand-ins with just enough declarations."""
import unittest

from library_case import LibraryCase, loaded
from support import HEAD

SMALL = """[CUptiResult]
kind = type
type = int

[Handle]
kind = type
type = void *

[Record]
kind = type
type = struct record

[Callback]
kind = callback
type = uint64_t
args = Handle, uint32_t

[cuptiOpen]
kind = function
args = Handle *, Callback
required = yes

[cuptiQuiet]
kind = function
args = uint8_t
required = no
since = 130000

[CUPTI_GOOD]
kind = code
value = 0
ours = CUPTI_OK

[CUPTI_HELD]
kind = code
value = 39
words = held

[CUPTI_COPY_HTOD]
kind = constant
value = 1
ours = ACTIVITY_HTOD

[CUPTI_FORCED]
kind = constant
value = 2

[kernel]
kind = record
fields = u32 kind 0, u8 flag 6, u64 start 16, text name 24
structs = Kernel1 Kernel2 Kernel3@130100
least = 40

[head]
kind = record
fields = u32 site 4
structs = Head

[CUPTI_KIND_KERNEL]
kind = activity
value = 10
record = kernel
words = kernels

[versions]
kind = versions
list = 17 11.6, 18 11.8
"""
# Enough headers for the table above.
HEADERS = {
    "cuda.h": "#include <stdint.h>\n",
    "cupti_result.h": "typedef enum { CUPTI_GOOD, CUPTI_HELD = 39 } CUptiResult;\n",
    "cupti_version.h": "#define CUPTI_API_VERSION 130001\n",
    "cupti_callbacks.h": "#include <cuda.h>\n#include <cupti_result.h>\n"
                         "typedef struct handle *Handle;\n"
                         "typedef uint64_t (*Callback)(Handle, uint32_t);\n"
                         "CUptiResult cuptiOpen(Handle *h, Callback c);\n"
                         "typedef struct { int x; int site; } Head;\n",
    "cupti_activity.h": "#include <cupti_result.h>\n"
                        "enum { CUPTI_COPY_HTOD = 1, CUPTI_FORCED, CUPTI_KIND_KERNEL = 10 };\n"
                        "CUptiResult cuptiQuiet(uint8_t enable);\n"
                        "typedef struct { int kind; char a, b, flag; long long x, start;\n"
                        "    const char *name; int last; } Kernel1;\n"
                        "typedef struct { int kind; char a, b, flag; long long x, start;\n"
                        "    const char *name; int last, more; long long most; } Kernel2;\n",
    "arena/activity_kind.h": "enum { ACTIVITY_HTOD = 1 };\n",
}


class Cupti(LibraryCase):
    SOURCE = SMALL
    OUTPUTS = ("cupti_types.inc", "cupti_table.inc", "cupti_double.inc", "cupti_check.c")
    CHECK = "cupti_check.c"
    HEADERS = HEADERS

    def test_types(self):
        self.assert_golden("cupti_types.inc", SMALL, HEAD + """typedef int CUptiResult;
typedef void *Handle;
typedef struct record Record;
typedef uint64_t (*Callback)(Handle, uint32_t);
struct cupti {
    CUptiResult (*cuptiOpen)(Handle *, Callback);
    CUptiResult (*cuptiQuiet)(uint8_t);
};
enum cupti_code {
    CUPTI_OK = 0,
};
enum cupti_constant {
    CUPTI_FORCED = 2,
    CUPTI_KIND_KERNEL = 10,
};
struct cupti_kernel {
    uint32_t kind;
    char gap4[2];
    uint8_t flag;
    char gap7[9];
    uint64_t start;
    const char *name;
};
_Static_assert(offsetof(struct cupti_kernel, kind) == 0, "kind");
_Static_assert(offsetof(struct cupti_kernel, flag) == 6, "flag");
_Static_assert(offsetof(struct cupti_kernel, start) == 16, "start");
_Static_assert(offsetof(struct cupti_kernel, name) == 24, "name");
_Static_assert(sizeof(struct cupti_kernel) <= 40, "kernel");
struct cupti_head {
    char gap0[4];
    uint32_t site;
};
_Static_assert(offsetof(struct cupti_head, site) == 4, "site");
""")

    def test_table(self):
        self.assert_golden("cupti_table.inc", SMALL, HEAD + """\
/* name, where it goes, whether it must be there */
static const struct cupti_symbol cupti_symbols[] = {
    {"cuptiOpen", offsetof(struct cupti, cuptiOpen), 1},
    {"cuptiQuiet", offsetof(struct cupti, cuptiQuiet), 0},
};
/* code, name, in words */
static const struct cupti_words cupti_codes[] = {
    {0, "CUPTI_GOOD", NULL},
    {39, "CUPTI_HELD", "held"},
};
/* version, toolkit */
static const struct cupti_toolkit cupti_toolkits[] = {
    {17, "11.6"},
    {18, "11.8"},
};
/* number, bytes at least, bytes read, since that version, in words */
static const struct cupti_kind cupti_kinds[] = {
    {CUPTI_KIND_KERNEL, 40, sizeof(struct cupti_kernel), 0, "kernels"},
};
""")

    def test_double(self):
        self.assert_golden("cupti_double.inc", SMALL, HEAD + """enum double_function {
    DOUBLE_cuptiOpen,
    DOUBLE_cuptiQuiet,
    DOUBLE_FUNCTIONS
};
static const char *const double_names[DOUBLE_FUNCTIONS] = {
    "cuptiOpen",
    "cuptiQuiet",
};
static CUptiResult double_cuptiOpen(Handle *a, Callback b);
DOUBLE_EXPORT CUptiResult cuptiOpen(Handle *a, Callback b);
DOUBLE_EXPORT CUptiResult cuptiOpen(Handle *a, Callback b) {
    int code = double_enter(DOUBLE_cuptiOpen);
    return double_leave(DOUBLE_cuptiOpen, code ? code : double_cuptiOpen(a, b));
}
__attribute__((unused)) static CUptiResult double_cuptiQuiet(uint8_t a);
#ifndef DOUBLE_OLD
DOUBLE_EXPORT CUptiResult cuptiQuiet(uint8_t a);
DOUBLE_EXPORT CUptiResult cuptiQuiet(uint8_t a) {
    int code = double_enter(DOUBLE_cuptiQuiet);
    return double_leave(DOUBLE_cuptiQuiet, code ? code : double_cuptiQuiet(a));
}
#endif
""")

    def test_check_finds_every_difference(self):
        self.assert_check_finds(
            ("type = void *", "type = int", "Handle"),
            ("args = Handle, uint32_t", "args = Handle, uint64_t", "Callback"),
            ("type = uint64_t\n", "type = void\n", "Callback"),
            ("args = Handle *, Callback", "args = Handle, Callback", "cuptiOpen"),
            ("args = uint8_t", "args = uint32_t", "cuptiQuiet"),
            ("value = 0\n", "value = 3\n", "CUPTI_GOOD"),
            ("value = 39", "value = 40", "CUPTI_HELD"),
            ("value = 1\n", "value = 4\n", "ACTIVITY_HTOD"),
            ("value = 2\n", "value = 4\n", "CUPTI_FORCED"),
            ("value = 10", "value = 3", "CUPTI_KIND_KERNEL"),
            ("u8 flag 6", "u8 flag 5", "Kernel2 flag"),
            ("u8 flag 6", "u16 flag 6", "Kernel1 flag"),
            ("u64 start 16", "u64 start 8", "Kernel1 start"),
            ("u64 start 16", "u32 start 16", "Kernel1 start"),
            ("least = 40", "least = 48", "Kernel1"),
            ("u32 site 4", "u32 site 0", "Head site"))

    def test_check_asks_older_headers_less(self):
        """Headers from before 13.0 may lack functions and versions of a record."""
        self.write_headers(("130001", "18"), ("cuptiQuiet", "other"), ("Kernel2", "Other"))
        self.assertEqual(self.checked(SMALL), (0, ""))

    def test_check_asks_newer_headers_more(self):
        """A struct of a later version has to be there from that version on."""
        self.write_headers(("130001", "130100"), ("Kernel2;", "Kernel2; typedef Kernel2 Kernel3;"))
        self.assertEqual(self.checked(SMALL), (0, ""))
        self.write_headers(("130001", "130100"))
        self.assertIn("Kernel3", self.checked(SMALL)[1])

    def test_refused(self):
        self.refuse("kind = callback", "kind = call",
                    "[Callback]: unknown kind 'call' (type|callback|function|code|constant|record|"
                    "activity|versions)")
        self.refuse("kind = type\n", "", "[CUptiResult]: no key 'kind'")
        self.refuse("required = yes\n", "", "[cuptiOpen]: no key 'required'")
        self.refuse("required = yes", "required = maybe",
                    "[cuptiOpen]: unknown required 'maybe' (yes|no)")
        self.refuse("value = 39", "value = held", "[CUPTI_HELD]: value 'held' is not a number")
        self.refuse("value = 39", "value = 0",
                    "[CUPTI_HELD]: value '0' is also that of [CUPTI_GOOD]")
        self.refuse("least = 40", "least = 4x", "[kernel]: least '4x' is not a number")
        self.refuse("[cuptiOpen]", "[cupti-open]",
                    "[cupti-open]: name 'cupti-open' is not a C identifier")
        self.refuse("u8 flag 6", "u7 flag 6",
                    "[kernel]: field 'u7 flag 6' is not WIDTH NAME OFFSET (u8|u16|u32|u64|text)")
        self.refuse("Kernel3@130100", "Kernel3@next",
                    "[kernel]: struct 'Kernel3@next' is not NAME or NAME@VERSION")
        self.refuse("u64 start 16", "u64 start 12",
                    "[kernel]: field 'u64 start 12' is not aligned")
        self.refuse("u64 start 16", "u64 start 0",
                    "[kernel]: field 'start' begins before the end of 'flag'")
        self.refuse("least = 40", "least = 24",
                    "[kernel]: field 'name' does not fit into 24 bytes")
        self.refuse("record = kernel", "record = head",
                    "[CUPTI_KIND_KERNEL]: unknown record 'head' (kernel)")
        self.refuse("list = 17 11.6", "list = 11.6", "[versions]: '11.6' is not VERSION TOOLKIT")
        self.refuse("words = kernels", "words = kernels\nours = X",
                    "[CUPTI_KIND_KERNEL]: unknown key 'ours'")


class Required(unittest.TestCase):
    def test_what_must_be_there(self):
        """A CUPTI that has these can be used; more may not be asked for by accident."""
        symbols = loaded("cupti_table.inc", "cupti.ini")
        self.assertEqual(sorted(name for name in symbols if not symbols[name]), [
            "cuptiActivityConfigureUnifiedMemoryCounter", "cuptiActivityDisable_v2",
            "cuptiActivityEnableAllSyncRecords", "cuptiActivityEnableDriverApi",
            "cuptiActivityEnableRuntimeApi", "cuptiActivityEnable_v2",
            "cuptiActivityGetNextRecord_v2", "cuptiActivityGetNumDroppedRecords_v2",
            "cuptiActivityRegisterCallbacks_v2", "cuptiActivitySetAttribute",
            "cuptiActivitySetAttribute_v2", "cuptiGetResultString", "cuptiGetTimestamp_v2",
            "cuptiSetThreadIdType", "cuptiSubscribe_v2"])


if __name__ == "__main__":
    unittest.main()
