/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run file: makes it, reserves its space, gives it its name. Called by the arena under the
 * registry's lock; run_file_reserve alone also by recording threads and signal handlers.
 *
 * Implementation notes
 * - A program may close descriptors that it did not open (daemons do). Before the descriptor is
 * used it is compared with the file that was opened, so that no file of the program is ever
 * changed. If another thread closes it in between, a reservation that keeps the size changes no
 * byte of the file that has the number then. A file is cut only by a descriptor that is so high
 * that the kernel does not give its number to the next file that is opened.
 * - Not every program that copies the file leaves out its holes. It is therefore not as long as the
 * mapping, but 64 MiB, and twice as long each time more is needed; it never gets shorter. In the
 * case above, a file with the number would get longer at these few moments.
 * - After a failed reservation most requests fail without a system call: each scope that needs
 * space would make one.
 */
#include "run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "arena.h"
#include "base/arithmetic.h"
#include "base/error_text.h"
#include "base/print.h"
#include "base/scratch.h"
#include "base/write_all.h"
#include "system/log.h"
#include "system/output.h"
#include "system/replace_file.h"

#define CHUNK ((uint64_t)1 << 20)
#define CHUNK_FIRST ((uint64_t)128 << 10) /* enough for 20 names; up to CHUNK by so much */
#define LENGTH_FIRST ((uint64_t)64 << 20)
#define PAGE ((uint64_t)4096)
#define REFUSALS 1024u      /* after which the file system is asked again */
#define DESCRIPTOR_HIGH 512 /* most programs open fewer files */
#define CUT_BEGUN 1u
#define CUT_WAITS 100000 /* 30 ms on an idle processor, more than a cut takes */
#define NAMES 1000       /* tried when a name is taken */
#define OVERLAY 0x794c7630ul

#ifndef RENAME_NOREPLACE /* of the kernel; not every C library has it */
#define RENAME_NOREPLACE 1
#endif

static struct {
    int fd;
    int at_exit;
    dev_t device;
    ino_t inode;
    uint64_t reserved; /* atomic */
    uint64_t full;     /* the end that could not be had, 0 = none; atomic */
    unsigned refused;  /* since then; atomic */
    uint64_t length;   /* of the file, `size` at most; atomic, grows */
    uint64_t cut;      /* 0, CUT_BEGUN, or the length since it was cut; atomic, grows */
    pthread_t cutter;  /* if `cut` is not 0 */
    uint64_t size;     /* of the mapping */
    char path[PATH_MAX];
    char temporary[PATH_MAX];
} file = {.fd = -1};

static int is_ours(int fd) {
    struct stat s;
    return fd >= 0 && !fstat(fd, &s) && s.st_dev == file.device && s.st_ino == file.inode;
}

static void close_file(void) {
    if (is_ours(file.fd)) {
        close(file.fd);
    }
    file.fd = -1;
}

/*
 * File systems on which the file is not mapped. Network and user-space ones: a mapping there is
 * slow, or not coherent, or both. Copy-on-write ones: a page that has been written back needs new
 * space when it is written again, whatever was reserved, and without space the kernel sends
 * SIGBUS. */
static int is_mapped_badly(int fd) {
    static const unsigned long types[] = {
        0x6969,     /* nfs */
        0x0bd00bd0, /* lustre */
        0x65735546, /* fuse */
        0x01021997, /* 9p */
        0xff534d42, /* cifs */
        0xfe534d42, /* smb2 */
        0x47504653, /* gpfs */
        0x19830326, /* beegfs */
        0x00c36400, /* ceph */
        0x9123683e, /* btrfs */
        0x2fc12fc1, /* zfs */
        0xca451a4e, /* bcachefs */
    };
    struct statfs s;
    if (fstatfs(fd, &s)) {
        return 0;
    }
    /* The layers of a container: all but the type is the upper layer's, and btrfs counts no
     * files. */
    if ((unsigned long)s.f_type == OVERLAY && !s.f_files) {
        return 1;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
        if ((unsigned long)s.f_type == types[i]) {
            return 1;
        }
    }
    return 0;
}

static int run_file_refuse(const char *why) {
    log_error("STINT_FILE: cannot write %.500s: %s; this run has no file", file.path, why);
    file.path[0] = '\0';
    return -1;
}

/* The name is empty where all names were taken. */
static void drop_temporary(void) {
    if (*file.temporary) {
        unlink(file.temporary);
    }
    file.temporary[0] = '\0';
}

/* Where the limit of descriptors allows it. */
static void raise_descriptor(void) {
    int high = fcntl(file.fd, F_DUPFD_CLOEXEC, DESCRIPTOR_HIGH);
    if (high >= 0) {
        close(file.fd);
        file.fd = high;
    }
}

static int make_temporary(void) {
    file.fd =
        replace_file_temporary(file.path, file.temporary, sizeof file.temporary, O_RDWR, 0600);
    struct stat s;
    if (file.fd >= 0) {
        raise_descriptor();
    }
    if (file.fd < 0 || fstat(file.fd, &s)) {
        file.temporary[0] = '\0';
        return -1;
    }
    if ((s.st_mode & 0777) != 0600) {
        fchmod(file.fd, 0600); /* the umask took bits of the owner, who reads it */
    }
    file.device = s.st_dev;
    file.inode = s.st_ino;
    return 0;
}

/* Beyond the limit the kernel would send a signal. */
static int is_over_file_limit(uint64_t bytes) {
    struct rlimit limit;
    return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
           limit.rlim_cur < bytes;
}

/* NULL with errno; EOPNOTSUPP where it has to be written at the end. */
static void *map_file(size_t bytes, size_t ready) {
    if (is_mapped_badly(file.fd)) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    file.size = bytes;
    file.length = u64_min(bytes, LENGTH_FIRST);
    if (is_over_file_limit(file.length)) {
        errno = EFBIG;
        return NULL;
    }
    replace_file_lock(file.fd);
    if (ftruncate(file.fd, (off_t)file.length)) {
        return NULL;
    }
    file.reserved = file.full = file.cut = 0;
    file.refused = 0;
    if (run_file_reserve(ready)) {
        return NULL;
    }
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, file.fd, 0);
    if (p == MAP_FAILED) {
        return NULL;
    }
    /* No read-ahead: it brings large folios (ext4 since Linux 6.16, xfs since 5.18), and the first
     * write to one needs space for all its pages, also for those past the reservation. */
    madvise(p, bytes, MADV_RANDOM);
    return p;
}

/* The program may be elsewhere when it ends. */
static void make_absolute(void) {
    char *here = file.temporary;
    if (*file.path != '/' && getcwd(here, sizeof file.temporary)) {
        size_t length = strlen(here), more = strlen(file.path);
        if (length + 1 + more < sizeof file.path) {
            memmove(file.path + length + 1, file.path, more + 1);
            memcpy(file.path, here, length);
            file.path[length] = '/';
        }
    }
    file.temporary[0] = '\0';
}

static void postpone_file(void) {
    file.at_exit = 1;
    log_note("STINT_FILE: %.500s is on a network or copy-on-write file system or one without "
             "reservation: it is written at the end of the program",
             file.path);
    make_absolute();
}

void *run_file_open(const char *pattern, size_t bytes, size_t ready) {
    file.at_exit = 0;
    if (output_path(file.path, sizeof file.path, pattern)) {
        print_text(file.path, sizeof file.path, "%.200s", pattern);
        run_file_refuse("too long, or a % that is not %p %h %r");
        return NULL;
    }
    if (make_temporary()) {
        run_file_refuse(error_text(errno));
        return NULL;
    }
    void *p = map_file(bytes, ready);
    if (!p) {
        int why = errno;
        close_file();
        drop_temporary();
        file.size = file.length = 0;
        if (why == EOPNOTSUPP || why == ENOSYS || why == ENODEV) {
            postpone_file();
        } else {
            run_file_refuse(error_text(why));
        }
    }
    return p;
}

/* 0, or -1 with errno. */
static int reserve_range(int mode, uint64_t from, uint64_t end) {
    if (!is_ours(file.fd)) {
        errno = EBADF;
        return -1;
    }
    int failed;
    do {
        failed = fallocate(file.fd, mode, (off_t)from, (off_t)(end - from));
    } while (failed && errno == EINTR);
    return failed;
}

/* Sets a number that was `have` and only grows, unless it is larger by now. */
static void raise_to(uint64_t *number, uint64_t have, uint64_t want) {
    while (have < want && !__atomic_compare_exchange_n(number, &have, want, 0, __ATOMIC_ACQ_REL,
                                                       __ATOMIC_ACQUIRE)) {
    }
}

/* Makes the file long enough, by a reservation of its last page: unlike ftruncate this does not
 * shorten what another thread has just made longer. 0, or -1 with errno. */
static int lengthen_to(uint64_t end) {
    uint64_t have = __atomic_load_n(&file.length, __ATOMIC_ACQUIRE), length = have;
    if (end <= have) {
        return 0;
    }
    while (length < end) {
        length *= 2;
    }
    length = u64_min(length, file.size);
    if (is_over_file_limit(length)) {
        errno = EFBIG;
        return -1;
    }
    if (reserve_range(0, length - PAGE, length)) {
        return -1;
    }
    raise_to(&file.length, have, length);
    return 0;
}

/* 0, or -1 with errno. */
static int reserve_up_to(uint64_t have, uint64_t want) {
    if (lengthen_to(want)) {
        return -1;
    }
    return reserve_range(FALLOC_FL_KEEP_SIZE, have, want);
}

static uint64_t round_up_in_file(uint64_t end, uint64_t piece) {
    return u64_min((end + piece - 1) / piece * piece, file.size);
}

static int is_known_full(uint64_t end) {
    uint64_t full = __atomic_load_n(&file.full, __ATOMIC_RELAXED);
    return full && end >= full && __atomic_add_fetch(&file.refused, 1, __ATOMIC_RELAXED) % REFUSALS;
}

/* A whole chunk, or just what is needed. 0, or -1 with errno. */
static int reserve_more(uint64_t have, uint64_t end) {
    uint64_t want = round_up_in_file(end, end < CHUNK ? CHUNK_FIRST : CHUNK);
    int failed = reserve_up_to(have, want);
    if (failed && (errno == ENOSPC || errno == EDQUOT)) {
        want = round_up_in_file(end, PAGE);
        failed = reserve_up_to(have, want);
    }
    if (failed) {
        __atomic_store_n(&file.full, end, __ATOMIC_RELAXED);
        return -1;
    }
    __atomic_store_n(&file.full, 0, __ATOMIC_RELAXED);
    raise_to(&file.reserved, have, want);
    return 0;
}

/* Another thread cuts the file. The wait is bounded, for a thread that keeps that one from its
 * processor. Returns the length then, or CUT_BEGUN. */
static uint64_t wait_for_cut(void) {
    uint64_t cut = CUT_BEGUN;
    for (int i = 0; cut == CUT_BEGUN && i < CUT_WAITS; ++i) {
        sched_yield();
        cut = __atomic_load_n(&file.cut, __ATOMIC_ACQUIRE);
    }
    return cut;
}

/* After the cut, page by page: the file gets longer again. Just what is needed: nothing gives the
 * rest back. 0, or -1 with errno. */
static int reserve_late(uint64_t have, uint64_t end) {
    if (have == CUT_BEGUN && !pthread_equal(file.cutter, pthread_self())) {
        have = wait_for_cut();
    }
    if (end <= have) {
        return 0;
    }
    uint64_t want = round_up_in_file(end, PAGE);
    if (have == CUT_BEGUN || is_over_file_limit(want) || reserve_range(0, have, want)) {
        return -1;
    }
    raise_to(&file.cut, have, want);
    return 0;
}

int run_file_reserve(uint64_t end) {
    int saved = errno, failed = 0;
    uint64_t have = __atomic_load_n(&file.reserved, __ATOMIC_ACQUIRE);
    uint64_t cut = __atomic_load_n(&file.cut, __ATOMIC_ACQUIRE);
    if (cut) {
        failed = reserve_late(cut, end);
    } else if (file.size && end > have) {
        failed = is_known_full(end) || reserve_more(have, end);
    }
    if (!failed || have) { /* errno is for the first reservation, by run_file_open */
        errno = saved;
    }
    if (failed) {
        return -1;
    }
    return 0;
}

/* ---- The end of the program. */

int run_file_cut_begin(void) {
    if (!file.size || file.fd < DESCRIPTOR_HIGH || !is_ours(file.fd)) {
        return -1;
    }
    file.cutter = pthread_self();
    __atomic_store_n(&file.cut, CUT_BEGUN, __ATOMIC_RELEASE);
    return 0;
}

void run_file_cut(uint64_t used) {
    uint64_t length = round_up_in_file(used, PAGE);
    if (ftruncate(file.fd, (off_t)length)) {
        length = 0; /* what was reserved still is */
    }
    __atomic_store_n(&file.cut, length, __ATOMIC_RELEASE);
}

void run_file_give_back(uint64_t from, uint64_t end) {
    reserve_range(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, end);
}

/* ---- The name. */

/* By system call: musl 1.2.4 and older have no function for it. */
static int rename_if_free(const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

/* Gives the file that name if it is free. A file system without links may still rename; where the
 * kernel or the file system has no RENAME_NOREPLACE, the name is checked before. */
static int take_name(const char *path) {
    if (!link(file.temporary, path)) {
        return 0;
    }
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK) {
        return -1;
    }
    int failed = rename_if_free(file.temporary, path);
    if (!failed || (errno != EINVAL && errno != ENOSYS)) {
        return failed;
    }
    if (!access(path, F_OK)) {
        errno = EEXIST;
        return -1;
    }
    return rename(file.temporary, path);
}

static int link_as(char *path) {
    for (int n = 1; n < NAMES; ++n) {
        size_t length = print_text(path, PATH_MAX, "%s.%ld.%d", file.path, (long)getpid(), n);
        if (length + 1 == PATH_MAX) { /* cut */
            errno = ENAMETOOLONG;
            return -1;
        }
        if (!take_name(path)) {
            log_note("STINT_FILE: %.500s is being written by a running program; this run goes to "
                     "%.500s",
                     file.path, path);
            memcpy(file.path, path, length + 1);
            return 0;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return -1;
}

static int link_beside(void) {
    char *path = pages_get(PATH_MAX); /* too much for a small stack */
    if (!path) {
        errno = ENOMEM;
        return -1;
    }
    int failed = link_as(path);
    pages_put(path, PATH_MAX); /* keeps errno */
    return failed;
}

static int put_in_place(void) {
    int rival = -1, failed = 0;
    for (int i = 0; i < NAMES; ++i) {
        if (!take_name(file.path)) {
            return 0;
        }
        if (errno != EEXIST) {
            return -1;
        }
        switch (run_rival(file.path, &rival)) {
        case RIVAL_NONE:
            break; /* the name is free again: retried */
        case RIVAL_ALIVE:
            return link_beside();
        case RIVAL_FOREIGN:
            return -1;
        case RIVAL_DEAD:
            failed = rename(file.temporary, file.path);
            if (!failed) {
                file.temporary[0] = '\0';
            }
            close(rival);
            return failed;
        }
    }
    return -1;
}

static int refuse_name(int why) {
    if (why == EEXIST) {
        return run_file_refuse("file exists and is not a stint run file");
    }
    return run_file_refuse(error_text(why));
}

void run_file_publish(void) {
    if (file.fd < 0) {
        return;
    }
    int failed = put_in_place();
    int why = errno;
    drop_temporary();
    if (failed) {
        refuse_name(why);
    }
}

/* ---- Written at the end. */

int run_file_at_exit(void) {
    return file.at_exit;
}

static int write_body(const char *from, size_t length) {
    if (is_over_file_limit(length)) {
        errno = EFBIG;
        return -1;
    }
    if (write_all(file.fd, from, length, WRITE_NO_WAIT) < length) {
        return -1;
    }
    return 0;
}

int run_file_save(const void *bytes, size_t length) {
    int failed = make_temporary() || write_body(bytes, length) || put_in_place();
    int why = errno;
    close_file();
    drop_temporary();
    file.at_exit = 0;
    if (failed) {
        return refuse_name(why);
    }
    return 0;
}

void run_file_forget(void) {
    close_file();
    file.path[0] = file.temporary[0] = '\0';
    file.at_exit = 0;
    file.size = file.cut = 0;
}
