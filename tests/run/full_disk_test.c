/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No room for the run file: no signal, no word but one line and the ledger, and the program's own
 * result is what it is without.
 */
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "run_support.h"
#include "session/process.h"

static void disks_drop(void) {
    if (getpid() == run_folder_owner) {
        umount2(run_path("disk/merged"), MNT_DETACH);
        umount2(run_path("disk"), MNT_DETACH);
        umount2(run_folder, MNT_DETACH);
    }
}

/* A file system of that size on the folder, or -1: not permitted here. */
static int small_disk(const char *size) {
    char option[32], map[32];
    uid_t me = getuid();
    run_folder_make();
    atexit(disks_drop);
    if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) {
        return -1;
    }
    int fd = open("/proc/self/uid_map", O_WRONLY);
    snprintf(map, sizeof map, "0 %u 1", me);
    if (fd >= 0) {
        (void)!write(fd, map, strlen(map)); /* refused where we have stayed who we were */
        close(fd);
    }
    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    snprintf(option, sizeof option, "size=%s", size);
    setenv("STINT_FILE", run_path("run"), 1);
    return mount("none", run_folder, "tmpfs", 0, option);
}

#define NEEDS_SMALL_DISK(size)                                                                     \
    if (small_disk(size)) {                                                                        \
        SKIP("no file system can be mounted here");                                                \
    }

static uint64_t names = 60000;

/* The sum of what it does is its result. */
static uint64_t program(void) {
    uint64_t sum = 0;
    char name[32];
    for (uint64_t i = 0; i < names; ++i) {
        snprintf(name, sizeof name, "name %u", (unsigned)i);
        REGISTER_TIMER_DYNAMIC(name);
        fake_advance(1);
        sum += i;
    }
    for (int i = 0; i < 100; ++i) {
        timed("name 0", 2);
    }
    return sum;
}

static void runs(void) {
    if (program() != names * (names - 1) / 2) {
        exit(5);
    }
}

static void check_full(const struct run_file *f) {
    CHECK(f->t.s.lost[STINT_STATUS_FILE_FULL] > 0);
    CHECK(f->t.s.lost[STINT_STATUS_NO_NAME] + f->t.s.lost[STINT_STATUS_NO_NODE] > 0);
    CHECK_EQ_U64(run_calls(f, "name 0"), 101);
    CHECK(f->t.s.site_count > 50);
}

TEST(full_disk, what_fits_is_there) {
    NEEDS_SMALL_DISK("2m");
    run_silent(runs);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK(f->size > 3 << 19);
    check_full(f);
}

/* Less than the megabyte that is asked for at a time. */
TEST(full_disk, the_last_pages_are_used) {
    NEEDS_SMALL_DISK("400k");
    run_silent(runs);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK(f->size > 380 << 10);
    check_full(f);
}

TEST(full_disk, the_footer_says_so) {
    NEEDS_SMALL_DISK("1m");
    setenv("STINT_REPORT", "table,top=3", 1);
    CHECK_CONTAINS(run_said(runs), "times the run file could not grow");
}

TEST(full_disk, not_even_a_header) {
    NEEDS_SMALL_DISK("8k");
    run_says(runs, 1, "No space left on device; this run has no file", "");
    CHECK_EQ_U64(run_entries(NULL), 0);
}

TEST(full_disk, rings_shrink_to_what_is_there) {
    NEEDS_SMALL_DISK("4m");
    setenv("STINT_TRACE", "64M", 1);
    names = 500;
    run_silent(runs);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK_EQ_U64(traced_count(&f->t, TRACE_SPAN, NULL), 600);
    CHECK_EQ_U64(run_calls(f, "name 0"), 101);
}

static void fills_and_frees(void) {
    int fd = open(run_path("other"), O_RDWR | O_CREAT, 0600);
    timed("before", 1);
    CHECK(!fallocate(fd, 0, 0, 1 << 20) && fallocate(fd, 0, 0, 4 << 20) == -1);
    names = 2000;
    program();
    close(fd);
    unlink(run_path("other"));
    names = 12000;
    program();
}

TEST(full_disk, goes_on_when_there_is_room_again) {
    NEEDS_SMALL_DISK("2560k");
    run_body(fills_and_frees);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK(f->size > 2 << 20);
}

/* Takes all there is but so many bytes, in a file of that name. */
static void fill_disk(const char *name, uint64_t leave) {
    int fd = open(run_path(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    off_t size = 0;
    for (off_t piece = 64 << 20; piece >= 4096; piece /= 2) {
        while (!fallocate(fd, 0, size, piece)) {
            size += piece;
        }
    }
    CHECK(fd >= 0 && size > (off_t)leave);
    if (leave) {
        CHECK(!ftruncate(fd, size - (off_t)leave) && !fsync(fd));
    }
    close(fd);
}

/* ---- After the end of the program, which gives back what the file does not use. */

static void goes_on_after_its_end(void) {
    timed("known", 1);
    {
        REGISTER_TIMER("open");
        process_ends();
        fill_disk("ballast", 0);
        for (int i = 0; i < 3000; ++i) { /* spans for more than the pages that are left */
            timed("known", 1);
        }
        run_names(100);
    }
    CHECK(lost(STINT_STATUS_FILE_FULL) > 0);
    _exit(0);
}

TEST(full_disk, after_the_end_of_the_program) {
    NEEDS_SMALL_DISK("8m");
    setenv("STINT_TRACE", "8M", 1);
    run_silent(goes_on_after_its_end);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK_EQ_U64(run_calls(f, "known"), 3001);
    CHECK_EQ_U64(run_calls(f, "open"), 1);
    CHECK(f->t.s.lost[STINT_STATUS_FILE_FULL] > 0);
    CHECK(traced_overwritten(&f->t) > 0);
}

static void end_while_a_clone_is_inside(void) {
    int filled[2];
    char byte;
    CHECK(!pipe(filled));
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!child) {
        close(filled[1]);
        CHECK(read(filled[0], &byte, 1) == 0);
        return; /* its scopes end, in the parent's ring */
    }
    process_ends();
    fill_disk("ballast", 0);
    close(filled[1]);
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    _exit(0);
}

static void nest(int depth, void (*inside)(void)) {
    char name[32];
    snprintf(name, sizeof name, "depth %d", depth);
    REGISTER_TIMER_DYNAMIC(name);
    fake_advance(1);
    if (depth) {
        nest(depth - 1, inside);
    } else {
        inside();
    }
}

static void do_nothing(void) {
}

static void clones_at_depth(void) {
    for (int i = 0; i < 3; ++i) {
        nest(250, do_nothing);
    }
    nest(250, end_while_a_clone_is_inside);
    _exit(0);
}

/* A child without fork handlers has the parent's file until its first scope. */
TEST(full_disk, a_clone_ends_its_scopes_after_the_end_of_its_parent) {
    NEEDS_SMALL_DISK("8m");
#if defined(__SANITIZE_THREAD__)
    SKIP("such a child is none for the thread sanitizer");
#endif
    setenv("STINT_TRACE", "8M", 1);
    run_silent(clones_at_depth);
    CHECK_EQ_U64(run_calls(run_loaded(run_path("run")), "depth 250"), 4);
}

/* ---- File systems of disks: where space is reserved and what a write to a mapping needs
 * differs. */

static int command(const char *format, const char *a, const char *b, const char *c) {
    char line[2000];
    snprintf(line, sizeof line, format, a, b, c);
    return system(line);
}

/* Mounts a file system of `type`, in a sparse file of 320 MB, at run_path("disk"). Returns -1 if
 * that is not permitted or not possible here. */
static int made_disk(const char *type) {
    run_folder_make();
    atexit(disks_drop);
    if (geteuid() || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
        return -1;
    }
    if (command("PATH=$PATH:/usr/sbin:/sbin; truncate -s 320M %s && mkfs.%s -q %s >/dev/null 2>&1",
                run_path("image"), type, run_path("image")) ||
        mkdir(run_path("disk"), 0700) ||
        command("mount -t %s -o loop %s %s 2>/dev/null", type, run_path("image"),
                run_path("disk"))) {
        return -1;
    }
    setenv("STINT_FILE", run_path("disk/run"), 1);
    setenv("STINT_MEMORY", "64M", 1);
    return 0;
}

#define NEEDS_MADE_DISK(type)                                                                      \
    if (made_disk(type)) {                                                                         \
        SKIP("no " type " can be made and mounted here");                                          \
    }

/* The kernel may bring pages in folios of many, which grow with what is read ahead: the last space
 * is met at several lengths. */
static void check_full_disk(void) {
    for (uint64_t leave = 3 << 20; leave <= 15 << 20; leave += 2 << 20) {
        fill_disk("disk/ballast", leave);
        run_silent(runs);
        const struct run_file *f = run_loaded(run_path("disk/run"));
        CHECK(f->size > leave / 2);
        check_full(f);
        CHECK(!unlink(run_path("disk/ballast")) && !unlink(run_path("disk/run")));
        sync();
    }
}

TEST(full_disk, of_ext4) {
    NEEDS_MADE_DISK("ext4");
    check_full_disk();
}

TEST(full_disk, of_xfs) {
    NEEDS_MADE_DISK("xfs");
    check_full_disk();
}

/* Known scopes go on after their pages were written back and nothing is left to write them anew. */
static void goes_on_while_full(void) {
    names = 2000;
    program();
    sync();
    fill_disk("disk/ballast", 0);
    for (int i = 0; i < 3; ++i) {
        program();
        sync();
    }
    CHECK(!unlink(run_path("disk/ballast")));
}

static void check_copy_on_write(const char *file) {
    setenv("STINT_FILE", file, 1);
    run_says(goes_on_while_full, 1, "copy-on-write", "it is written at the end of the program");
    const struct run_file *f = run_loaded(file);
    CHECK_EQ_U64(run_calls(f, "name 0"), 404);
    CHECK_EQ_U64(f->t.s.lost[STINT_STATUS_FILE_FULL], 0);
}

TEST(full_disk, of_btrfs) {
    NEEDS_MADE_DISK("btrfs");
    check_copy_on_write(run_path("disk/run"));
}

TEST(full_disk, of_btrfs_below_a_container) {
    static const char layers[] = "cd %s && mkdir lower upper work merged && mount -t overlay -o "
                                 "lowerdir=lower,upperdir=upper,workdir=work %s %s 2>/dev/null";
    NEEDS_MADE_DISK("btrfs");
    if (command(layers, run_path("disk"), "overlay", "merged")) {
        SKIP("no overlay can be mounted here");
    }
    check_copy_on_write(run_path("disk/merged/run"));
}

/* ---- Limits. */

static void limited(void) {
    struct rlimit r = {1 << 20, 1 << 20};
    CHECK(!setrlimit(RLIMIT_FSIZE, &r));
    runs();
}

TEST(full_disk, a_limit_on_the_size_of_files) {
    run_begin("run");
    run_says(limited, 1, "File too large; this run has no file", ""); /* SIGXFSZ would end it */
    CHECK_EQ_U64(run_entries(NULL), 0);
}

static void limited_later(void) {
    timed("before", 1);
    limited();
}

/* The file has its size by then; the limit is on what makes it longer. */
TEST(full_disk, a_limit_that_comes_later) {
    run_begin("run");
    run_silent(limited_later);
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK_EQ_U64(run_calls(f, "name 0"), 101);
}
