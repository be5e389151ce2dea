/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads where a process runs and what it has used, by system calls and from /proc and /sys. Called
 * when a run file is begun and when a report is printed, on any thread, also on a small stack.
 * Nothing fails: what cannot be read is "?", or is left out by the caller.
 */
#include "machine.h"

#include <sched.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>

#include "base/errno_keep.h"
#include "base/number.h"
#include "base/print.h"
#include "module.h"
#include "read_beginning.h"

#define CPU_BYTES 512  /* of the first processor, whose sixth line it is */
#define USAGE_LINE 256 /* bytes; more than a line of a number in /proc/self/status */
#define STAT_BYTES 512 /* of /proc/self/stat: the first 12 fields */

/* The first "model name" of /proc/cpuinfo; Arm kernels have none. */
static void read_cpu(char *out, size_t size) {
    char text[CPU_BYTES];
    read_beginning("/proc/cpuinfo", text, sizeof text);
#if defined(__aarch64__)
    const char *value = "aarch64";
#else
    const char *value = "x86-64";
#endif
    const char *line = strstr(text, "model name\t: ");
    if (line) {
        value = line + strlen("model name\t: ");
    }
    print_text(out, size, "%.*s", (int)strcspn(value, "\n"), value);
}

/* A copy of the library inside a module records what that module does; its reports say which. */
static void read_program(char *out, size_t size) {
    char module[64];
    if (module_name(module, sizeof module)) {
        print_text(out, size, "%.63s", program_invocation_short_name);
    } else {
        print_text(out, size, "%.63s (%s)", program_invocation_short_name, module);
    }
}

void machine_read(struct machine *out) {
    ERRNO_KEEP;
    cpu_set_t set;
    memset(out, 0, sizeof *out);
    if (gethostname(out->host, sizeof out->host - 1)) {
        strcpy(out->host, "?");
    }
    read_program(out->program, sizeof out->program);
    read_cpu(out->cpu, sizeof out->cpu);
#if defined(__clang__)
    print_text(out->compiler, sizeof out->compiler, "clang %d.%d.%d", __clang_major__,
               __clang_minor__, __clang_patchlevel__);
#else
    print_text(out->compiler, sizeof out->compiler, "gcc %d.%d.%d", __GNUC__, __GNUC_MINOR__,
               __GNUC_PATCHLEVEL__);
#endif
    out->cpus = 1;
    if (!sched_getaffinity(0, sizeof set, &set)) {
        out->cpus = (uint32_t)CPU_COUNT(&set);
    }
}

/* The first word of a file, or "?". */
static void read_word(char *out, size_t size, const char *path) {
    read_beginning(path, out, size);
    out[strcspn(out, " \n=")] = '\0';
    if (!*out) {
        strcpy(out, "?");
    }
}

int machine_aslr(void) {
    char level[8];
    int how = personality(0xffffffff);
    read_word(level, sizeof level, "/proc/sys/kernel/randomize_va_space");
    if (how < 0 || *level == '?') {
        return -1;
    }
    return !(how & ADDR_NO_RANDOMIZE) && *level != '0';
}

/* 0 = not known. In pieces: this may be on a small stack. */
static size_t count_environment(void) {
    char piece[512];
    size_t bytes = 0;
    int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    for (ssize_t got; (got = read(fd, piece, sizeof piece)) > 0;) {
        bytes += (size_t)got;
    }
    close(fd);
    return bytes;
}

void machine_conditions(char out[MACHINE_CONDITIONS]) {
    ERRNO_KEEP;
    static const char *const aslr[] = {"?", "off", "on"};
    char governor[32], load[32];
    read_word(governor, sizeof governor, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    read_word(load, sizeof load, "/proc/loadavg");
    print_text(out, MACHINE_CONDITIONS, "aslr=%s governor=%s load=%s env=%zu",
               aslr[machine_aslr() + 1], governor, load, count_environment());
}

/* Finds VmHWM, in KiB. Reads in pieces, because the groups of the process are before it and may be
 * many; the end of a piece is kept for a line that continues. The path is a thread's, because
 * /proc/self has no memory once the first thread has ended. */
static int read_proc_peak(const char *path, uint64_t *bytes) {
    static const char key[] = "\nVmHWM:";
    char text[2 * USAGE_LINE + 1];
    const char *found = NULL;
    size_t kept = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    for (ssize_t got; !found && (got = read(fd, text + kept, USAGE_LINE)) > 0;) {
        size_t length = kept + (size_t)got;
        text[length] = '\0';
        found = strstr(text, key);
        if (found && !strchr(found + 1, '\n')) {
            found = NULL; /* its end is in the next piece */
        }
        kept = length < USAGE_LINE ? length : USAGE_LINE;
        if (!found) {
            memmove(text, text + length - kept, kept);
        }
    }
    close(fd);
    if (!found) {
        return -1;
    }
    uint64_t kib;
    found += sizeof key - 1;
    if (!number_parse_whole(found + strspn(found, " \t"), UINT64_MAX / 1024, &kib)) {
        return -1;
    }
    *bytes = kib * 1024;
    return 0;
}

/* The 10th and 12th field of /proc/self/stat; the second is a name in parentheses. */
static int read_proc_faults(uint64_t *minor, uint64_t *major) {
    char text[STAT_BYTES];
    read_beginning("/proc/self/stat", text, sizeof text);
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 10; ++field) {
        at = strchr(at + 1, ' ');
    }
    if (!at || !number_parse_whole(at + 1, UINT64_MAX, minor)) {
        return -1;
    }
    for (int field = 10; at && field < 12; ++field) {
        at = strchr(at + 1, ' ');
    }
    return at && number_parse_whole(at + 1, UINT64_MAX, major) ? 0 : -1;
}

int machine_usage(struct machine_usage *out, int calls_allowed) {
    ERRNO_KEEP;
    struct rusage u;
    memset(out, 0, sizeof *out);
    if (!calls_allowed) {
        int failed = read_proc_peak("/proc/thread-self/status", &out->peak_rss) ||
                     read_proc_faults(&out->minor_faults, &out->major_faults);
        return -failed;
    }
    if (getrusage(RUSAGE_SELF, &u)) {
        return -1;
    }
    out->peak_rss = (uint64_t)u.ru_maxrss * 1024; /* Linux counts KiB */
    out->minor_faults = (uint64_t)u.ru_minflt;
    out->major_faults = (uint64_t)u.ru_majflt;
    return 0;
}
