/* SPDX-License-Identifier: Apache-2.0 */
/* stint_export: the program writes its statistics itself. */
#include <dirent.h>
#include <sys/stat.h>

#include "activity/activity.h"
#include "fake_clock.h"
#include "harness.h"
#include "stint/stint.h"

static char folder[] = "/tmp/stint-export-XXXXXX";

static void enter(void) {
    CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("say \"this, that\"");
        fake_advance(1000);
    }
}

static unsigned files(void) {
    unsigned count = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        count += e->d_name[0] != '.';
    }
    closedir(d);
    return count;
}

static void leave(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
}

static char *content(const char *path) {
    static char text[65536];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) {
        fclose(f);
    }
    text[n] = '\0';
    return text;
}

TEST(in_process, writes_each_format) {
    char path[64];
    enter();
    errno = 42;
    CHECK(stint_export("a.csv", "csv") == 0);
    CHECK(stint_export("a.json", "json") == 0);
    CHECK(stint_export("a-%p.txt", "text") == 0);
    CHECK(errno == 42);
    CHECK_CONTAINS(content("a.csv"), "name,set,");
    CHECK_CONTAINS(content("a.csv"), "\n\"say \"\"this, that\"\"\",\"GlobalStatInfo\",,,3,");
    CHECK_CONTAINS(content("a.json"), "{\"name\":\"say \\\"this, that\\\"\"");
    CHECK_CONTAINS(content("a.json"), "\"calls\":3,");
    snprintf(path, sizeof path, "a-%ld.txt", (long)getpid());
    CHECK_CONTAINS(content(path), "stint table: ");
    CHECK_CONTAINS(content(path), "say \"this, that\"      3");
    CHECK_EQ_U64(files(), 3); /* nothing was left beside them */
    leave();
}

/* The GPU's activities of the current interval, as the tool reads them from a file. */
TEST(in_process, what_a_gpu_did) {
    struct activity_record r = {.kind = ACTIVITY_KERNEL, .stream = 7, .name = "scale"};
    enter();
    CHECK(stint_export("none.json", "json") == 0);
    CHECK(!strstr(content("none.json"), "\"kernels\""));
    CHECK(!activity_open());
    r.start = activity_clock();
    r.end = r.start + 400;
    activity_begin();
    activity_add(&r);
    activity_end();
    CHECK(stint_export("a.json", "json") == 0);
    CHECK_CONTAINS(content("a.json"), "\"kernels\":[\n{\"name\":\"scale\",\"device\":0,");
    CHECK_CONTAINS(content("a.json"), "\"calls\":1,\"total_ns\":400,");
    leave();
}

/* A reader of the old file goes on reading it; the new one is whole when it is there. */
TEST(in_process, replaces_a_file_whole) {
    enter();
    CHECK(stint_export("a", "csv") == 0);
    FILE *old = fopen("a", "r");
    struct stat before, after;
    CHECK(stat("a", &before) == 0);
    stint_reset();
    CHECK(stint_export("a", "csv") == 0);
    CHECK(stat("a", &after) == 0 && after.st_ino != before.st_ino);
    CHECK(after.st_size < before.st_size);
    CHECK(fgetc(old) == 'n');
    fclose(old);
    leave();
}

static void refused(void *arg) {
    (void)arg;
    CHECK(stint_export(NULL, "csv") == -1);
    CHECK(stint_export("", "csv") == -1);
    CHECK(stint_export("a", NULL) == -1);
    CHECK(stint_export("a", "xml") == -1);
    CHECK(stint_export("no/a", "csv") == STINT_ERROR_CANNOT_WRITE);
    CHECK(stint_export("%q", "csv") == STINT_ERROR_CANNOT_WRITE);
    CHECK(stint_export(folder, "csv") == STINT_ERROR_CANNOT_WRITE);
    CHECK(stint_export("/dev/null", "csv") == STINT_ERROR_CANNOT_WRITE);
}

TEST(in_process, refuses_with_one_line) {
    unsigned lines = 0;
    enter();
    char *said = harness_capture(STDERR_FILENO, refused, NULL);
    for (const char *c = said; *c; ++c) {
        lines += *c == '\n';
    }
    CHECK_EQ_U64(lines, 8);
    CHECK_CONTAINS(said, "expected text, csv or json");
    CHECK_CONTAINS(said, "no/a: No such file");
    CHECK_EQ_U64(files(), 0);
    leave();
}
