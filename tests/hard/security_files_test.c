/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another user may write to the folder that a run file goes to, and knows the temporary name under
 * which it is made. A file that this user puts there is neither opened nor changed nor read.
 * tests/run, publish, tests the files that may exist under the final name.
 */
#include "../run/run_support.h"
#include "recorded.h"

#define NAMES 1000 /* as many as are tried */
#define TEXT "his own"

static void plant_file(const char *path) {
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(TEXT, f) >= 0 && !fclose(f));
    CHECK(!chmod(path, 0666));
}

static void plant_link(const char *path) {
    CHECK(!symlink(run_path("target"), path));
}

static void plant_hard_link(const char *path) {
    CHECK(!link(run_path("target"), path));
}

static void plant_fifo(const char *path) {
    CHECK(!mkfifo(path, 0666));
}

static const char *temporary(const char *file, int n) {
    char name[64];
    snprintf(name, sizeof name, "%s.%ld.%d.tmp", file, (long)getpid(), n);
    return run_path(name);
}

static int holds_text(const char *path) {
    struct stat s;
    char text[32] = "";
    FILE *f = stat(path, &s) || s.st_size != (off_t)strlen(TEXT) ? NULL : fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) {
        fclose(f);
    }
    return n == strlen(TEXT) && !strcmp(text, TEXT);
}

static void (*const plants[])(const char *) = {plant_file, plant_link, plant_hard_link, plant_fifo};
#define PLANTS (sizeof plants / sizeof *plants)

/* The first names are taken, each by another kind of thing. */
static void plant_some(const char *file) {
    for (size_t i = 0; i < PLANTS; ++i) {
        plants[i](temporary(file, (int)i));
    }
}

static void check_some(const char *file) {
    CHECK(holds_text(temporary(file, 0)));
    CHECK(holds_text(run_path("target")));
    for (size_t i = 0; i < PLANTS; ++i) {
        CHECK(!unlink(temporary(file, (int)i)));
    }
}

static void begin(void) {
    run_begin("run");
    plant_file(run_path("target"));
}

static void among_planted(void) {
    plant_some("run");
    timed("one", 1);
    check_some("run");
}

static void check_own(const char *file, mode_t mode) {
    struct stat s;
    CHECK(!lstat(run_path(file), &s) && S_ISREG(s.st_mode) && s.st_nlink == 1);
    CHECK((s.st_mode & 07777) == mode);
    CHECK_EQ_U64(run_entries(".tmp"), 0);
}

TEST(security_files, a_planted_name_is_left_alone) {
    begin();
    run_silent(among_planted);
    check_own("run", 0600);
    CHECK_EQ_U64(run_calls_in("run", "one"), 1);
}

/* There is no file then, and one line. */
static void among_nothing_else(void) {
    for (int i = 0; i < NAMES; ++i) {
        plant_file(temporary("run", i));
    }
    timed("one", 1);
    CHECK_EQ_U64(calls_of("one"), 1);
    for (int i = 0; i < NAMES; ++i) {
        CHECK(holds_text(temporary("run", i)));
    }
}

TEST(security_files, all_names_planted) {
    begin();
    run_says(among_nothing_else, 1, "stint: STINT_FILE: cannot write ", "");
    CHECK(access(run_path("run"), F_OK));
}

static void exports_among_planted(void) {
    unsetenv("STINT_FILE");
    umask(022);
    timed("one", 1);
    plant_some("export");
    CHECK(!stint_export(run_path("export"), "csv"));
    check_some("export");
}

TEST(security_files, an_export_leaves_a_planted_name_alone) {
    begin();
    run_silent(exports_among_planted);
    check_own("export", 0644);
}

static void exports_to_a_link(void) {
    unsetenv("STINT_FILE");
    umask(022);
    timed("one", 1);
    CHECK(!stint_export(run_path("export"), "csv"));
}

TEST(security_files, an_export_follows_no_link) {
    begin();
    CHECK(!symlink("target", run_path("export")));
    run_silent(exports_to_a_link);
    check_own("export", 0644);
    CHECK(holds_text(run_path("target")));
}
