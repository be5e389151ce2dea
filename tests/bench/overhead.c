/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the cost of a scope, row by row of the budget. STINT_PERCENTILES is read once per
 * process, so every configuration gets a process: this program again, with --measure.
 */
#include "bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "flags unknown"
#endif

extern char **environ;

#define FILE_NAME "/tmp/stint-overhead-%ld"

const struct config configs[CONFIGS] = {
    {"0", "0", 0}, {"1", "0", 0}, {"1", "64M", 0}, {"1", "0", 1}, {"1", "64M", 1},
};

/* The figures are those of the defaults, whatever the user has set. */
static void environment_clean(void) {
    for (char **e = environ; *e;) {
        char name[64] = "";
        size_t length = strcspn(*e, "=");
        if (!strncmp(*e, "STINT_", 6) && length < sizeof name) {
            memcpy(name, *e, length);
            unsetenv(name);
            e = environ;
        } else {
            ++e;
        }
    }
}

static void child_run(int config, int quick, const int fds[2]) {
    char number[2] = {(char)('0' + config), 0}, file[64];
    char *arguments[] = {"overhead", "--measure", number, quick ? "1" : "0", NULL};
    dup2(fds[1], STDOUT_FILENO);
    close(fds[0]);
    close(fds[1]);
    environment_clean();
    setenv("STINT_PERCENTILES", configs[config].percentiles, 1);
    setenv("STINT_TRACE", configs[config].trace, 1);
    if (configs[config].file) {
        snprintf(file, sizeof file, FILE_NAME, (long)getpid());
        setenv("STINT_FILE", file, 1);
    }
    execv("/proc/self/exe", arguments);
    fprintf(stderr, "overhead: cannot start itself: %s\n", strerror(errno));
    _exit(1);
}

/* 0, or -1 when the measuring process failed. */
static int collect(struct samples *all, int config, int quick, FILE *raw) {
    int fds[2], status = 0;
    fflush(NULL);
    if (pipe(fds)) {
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        child_run(config, quick, fds);
    }
    close(fds[1]);
    FILE *lines = child < 0 ? NULL : fdopen(fds[0], "r");
    if (!lines) {
        return -1;
    }
    char line[256];
    while (fgets(line, sizeof line, lines)) {
        samples_add(all, config, line);
        if (raw) {
            fprintf(raw, "%d %s", config, line);
        }
    }
    fclose(lines);
    snprintf(line, sizeof line, FILE_NAME, (long)child);
    int done = waitpid(child, &status, 0);
    unlink(line);
    if (done < 0 || status != 0) {
        fprintf(stderr, "overhead: the measuring process failed (status %#x)\n", (unsigned)status);
        return -1;
    }
    return 0;
}

static void machine_print(FILE *to, const char *mark) {
    struct utsname u;
    char line[256], cpu[128] = "unknown CPU";
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info)) {
        if (sscanf(line, "model name : %127[^\n]", cpu) == 1) {
            break;
        }
    }
    if (info) {
        fclose(info);
    }
    uname(&u);
    u.release[strcspn(u.release, "-")] = '\0'; /* the version, without the vendor's marks */
    fprintf(to, "%smachine   %s, %ld CPUs, %s, %s %s\n", mark, cpu, sysconf(_SC_NPROCESSORS_ONLN),
            u.machine, u.sysname, u.release);
#ifdef __clang__
    fprintf(to, "%scompiler  %s\n", mark, __VERSION__);
#else
    fprintf(to, "%scompiler  gcc %s\n", mark, __VERSION__);
#endif
    fprintf(to, "%sflags     %s\n", mark, BENCH_FLAGS);
}

/* The first and the last line of the output of --quick; quick.py checks it. */
static void print_quick_note(FILE *to, const char *mark, int quick) {
    if (quick) {
        fprintf(to,
                "%s--quick: a few scopes a row, where a row has many sites mostly first calls; "
                "these are not measurements\n",
                mark);
    }
}

static void usage(FILE *to) {
    fputs("usage: overhead [--raw FILE] [--quick]\n\n"
          "Prints what a scope costs, as multiples of two unfenced clock reads and a store.\n"
          "  --raw FILE  also write every repetition: config (0 call tree, 1 + percentiles, 2 + "
          "trace,\n"
          "              3 percentiles in a file, 4 trace in a file), \"time\", row, variant,\n"
          "              thread, repetition, reference and value in ns a scope\n"
          "  --quick     a few scopes a row: does everything run and count right? Its figures are "
          "not\n"
          "              measurements\n",
          to);
}

int main(int argc, char **argv) {
    int quick = 0;
    FILE *raw = NULL;
    if (argc == 4 && !strcmp(argv[1], "--measure")) {
        measure(atoi(argv[2]), atoi(argv[3]), stdout);
        return 0;
    }
    for (int i = 1; i < argc; ++i) {
        if (!strcmp(argv[i], "--quick")) {
            quick = 1;
        } else if (!strcmp(argv[i], "--raw") && i + 1 < argc) {
            raw = fopen(argv[++i], "w");
            if (!raw) {
                fprintf(stderr, "overhead: %s: %s\n", argv[i], strerror(errno));
                return 1;
            }
        } else {
            int help = !strcmp(argv[i], "--help");
            usage(help ? stdout : stderr);
            return !help;
        }
    }
    struct samples all = {0};
    print_quick_note(stdout, "", quick);
    machine_print(stdout, "");
    if (raw) {
        print_quick_note(raw, "# ", quick);
        machine_print(raw, "# ");
    }
    int failed = 0;
    for (int config = 0; config < CONFIGS; ++config) {
        failed = failed || collect(&all, config, quick, raw);
    }
    int missing = table_print(&all, stdout);
    print_quick_note(stdout, "\n", quick);
    if (raw) {
        fclose(raw);
    }
    free(all.at);
    if (missing) {
        fprintf(stderr, "overhead: %d figures are missing\n", missing);
    }
    return failed || missing || all.wrong;
}
