/* SPDX-License-Identifier: Apache-2.0 */
#include "base/replace_file.h"

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
    const char *why = replace_file_open(&file, path, 0640);
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

TEST(replace_file, replaces_regular_files_only) {
    enter();
    put("target", "old");
    CHECK(!symlink("target", "link") && !mkfifo("fifo", 0600) && !mkdir("folder", 0700));
    CHECK_STR_EQ(replace_file_open(&file, "link", 0600), REPLACE_FILE_IRREGULAR);
    CHECK_STR_EQ(replace_file_open(&file, "fifo", 0600), REPLACE_FILE_IRREGULAR);
    CHECK_STR_EQ(replace_file_open(&file, "folder", 0600), REPLACE_FILE_IRREGULAR);
    CHECK_STR_EQ(replace_file_open(&file, "/dev/null", 0600), REPLACE_FILE_IRREGULAR);
    CHECK_STR_EQ(replace_file_open(&file, "no/a", 0600), strerror(ENOENT));
    CHECK_EQ_U64(entries(), 4);
    CHECK_STR_EQ(content("target"), "old");
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
    CHECK_STR_EQ(replace_file_open(&file, "a", 0600), REPLACE_FILE_LOCKED);
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

HARNESS_MAIN()
