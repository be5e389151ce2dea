/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>

#include "harness.h"
#include "system/demangle.h"

static int has_demangler(void) {
    return dlsym(RTLD_DEFAULT, "__cxa_demangle") || dlopen("libstdc++.so.6", RTLD_LAZY);
}

TEST(demangle, mangled_names) {
    char out[100];
    if (!has_demangler()) {
        SKIP("no C++ library here");
    }
    CHECK(!demangle(out, sizeof out, "_Z5scalePff"));
    CHECK_STR_EQ(out, "scale(float*, float)");
    CHECK(!demangle(out, sizeof out, "_ZN2at6native4copyILi4EEEvPv"));
    CHECK_STR_EQ(out, "void at::native::copy<4>(void*)");
    CHECK(!demangle(out, 6, "_Z5scalePff"));
    CHECK_STR_EQ(out, "scale");
    CHECK(!demangle(out, 1, "_Z5scalePff"));
    CHECK_STR_EQ(out, "");
}

/* "i" is how int is mangled, and a kernel of C may be called so. */
TEST(demangle, other_names_are_left_alone) {
    static const char *const names[] = {"", "i", "_", "_Z", "_Zzz", "scale", "Z5scalePff", "_ZN"};
    char out[100] = "before";
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        CHECK(demangle(out, sizeof out, names[i]) == -1);
        CHECK_STR_EQ(out, "before");
    }
    CHECK(demangle(out, 0, "_Z5scalePff") == -1);
}

TEST(demangle, errno_is_kept) {
    char out[100];
    errno = EDOM;
    demangle(out, sizeof out, "_Z5scalePff");
    CHECK(errno == EDOM);
}
