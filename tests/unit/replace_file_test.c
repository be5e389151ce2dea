/* SPDX-License-Identifier: Apache-2.0 */
#include "system/replace_file.h"

#include <dirent.h>
#include <sys/stat.h>

#include "harness.h"

static char folder[] = "/tmp/stint-replace-XXXXXX";
static struct replace_file file;

static void enter(void) {
    CHECK(mkdtemp(folder) != NULL && !chdir(folder));
}

static void leave(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(!system(command));
}

static void put(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

static const char *content(const char *path) {
    static char text[64];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    if (f) {
        fclose(f);
    }
    return f ? text : NULL;
}

static unsigned entries(void) {
    unsigned n = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

static void begin(const char *path) {
    const char *why = replace_file_open(&file, path, REPLACE_WHOLE, 0640);
    CHECK_STR_EQ(why, NULL);
    CHECK(write(file.fd, "new", 3) == 3);
}

TEST(replace_file, appears_when_it_is_committed) {
    struct stat s;
    enter();
    put("a", "old");
    umask(0);
    begin("a");
    CHECK_STR_EQ(content("a"), "old");
    CHECK_EQ_U64(entries(), 2);
    CHECK_STR_EQ(replace_file_commit(&file), NULL);
    replace_file_abort(&file); /* nothing to do */
    CHECK_STR_EQ(content("a"), "new");
    CHECK(!stat("a", &s) && (s.st_mode & 0777) == 0640);
    CHECK_EQ_U64(entries(), 1);
    leave();
}

TEST(replace_file, leaves_nothing_when_it_is_given_up) {
    enter();
    put("a", "old");
    begin("a");
    errno = 77;
    replace_file_abort(&file);
    CHECK_EQ_U64((uint64_t)errno, 77);
    CHECK_STR_EQ(content("a"), "old");
    CHECK_EQ_U64(entries(), 1);
    leave();
}

static void check_refused(const char *path, const char *why) {
    CHECK_STR_EQ(replace_file_open(&file, path, REPLACE_WHOLE, 0600), why);
}

TEST(replace_file, run_files_are_replaced_by_run_files_only) {
    enter();
    put("a", RUN_FILE_MAGIC " and more");
    check_refused("a", REPLACE_FILE_RUN);
    CHECK_STR_EQ(replace_file_open(&file, "a", REPLACE_BY_RUN, 0600), NULL);
    CHECK_STR_EQ(replace_file_commit(&file), NULL);
    CHECK_STR_EQ(content("a"), "");
    begin("a");
    put("a", RUN_FILE_MAGIC); /* it came meanwhile */
    CHECK_STR_EQ(replace_file_commit(&file), REPLACE_FILE_RUN);
    CHECK_EQ_U64(entries(), 1);
    leave();
}

/* A descriptor that is closed by exec may be one of the library. */
TEST(replace_file, descriptors_that_the_process_was_given) {
    enter();
    put("a", "old");
    int fd = open("a", O_WRONLY | O_APPEND | O_CLOEXEC);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    check_refused(name, strerror(EBADF));
    CHECK(!fcntl(fd, F_SETFD, 0));
    begin(name);
    CHECK_STR_EQ(replace_file_commit(&file), NULL);
    CHECK(!close(fd));
    check_refused(name, strerror(EBADF));
    CHECK_STR_EQ(content("a"), "oldnew");
    leave();
}

static int lock(const char *path) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && !fcntl(fd, F_OFD_SETLK, &all));
    return fd;
}

TEST(replace_file, leaves_a_file_alone_that_is_being_written) {
    enter();
    int fd = lock("a");
    CHECK_STR_EQ(replace_file_open(&file, "a", REPLACE_WHOLE, 0600), REPLACE_FILE_LOCKED);
    CHECK_EQ_U64(entries(), 1);
    close(fd);
    begin("a");
    fd = lock("a"); /* its writer came meanwhile */
    CHECK_STR_EQ(replace_file_commit(&file), REPLACE_FILE_LOCKED);
    CHECK_EQ_U64(entries(), 1);
    CHECK_STR_EQ(content("a"), "");
    close(fd);
    leave();
}

/* A program that has closed its standard descriptors prints to their numbers. */
TEST(replace_file, takes_no_standard_descriptor) {
    static const int how[] = {REPLACE_WHOLE, REPLACE_APPEND};
    enter();
    int kept = dup(STDIN_FILENO);
    for (int i = 0; i < 2; ++i) {
        close(STDIN_FILENO);
        CHECK(!replace_file_open(&file, "f", how[i], 0600));
        int fd = file.fd;
        dup2(kept, STDIN_FILENO);
        CHECK(fd > STDERR_FILENO && !replace_file_commit(&file));
    }
    leave();
}

TEST(replace_file, taken_names_are_passed_over) {
    char name[64];
    enter();
    snprintf(name, sizeof name, "a.%ld.0.tmp", (long)getpid());
    put(name, "planted");
    begin("a");
    CHECK_STR_EQ(replace_file_commit(&file), NULL);
    CHECK_STR_EQ(content(name), "planted");
    CHECK_STR_EQ(content("a"), "new");
    leave();
}
