/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a target over files, or all files of folders, without libFuzzer: any compiler, any
 * sanitizer.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned long ran;

static int replay_file(const char *path) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long size = 0;
    int failed = 1;
    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0) {
        goto done;
    }
    rewind(file);
    data = malloc((size_t)size + 1); /* of its own length, so that a read past it is seen */
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) {
        goto done;
    }
    LLVMFuzzerTestOneInput(data, (size_t)size);
    ++ran;
    failed = 0;
done:
    if (failed) {
        perror(path);
    }
    if (file) {
        fclose(file);
    }
    free(data);
    return failed;
}

static int replay(const char *path) {
    char inside[4096];
    struct stat s;
    int failed = 0;
    DIR *folder = stat(path, &s) || !S_ISDIR(s.st_mode) ? NULL : opendir(path);
    if (!folder) {
        return replay_file(path);
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] != '.') {
            snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
            failed |= replay_file(inside);
        }
    }
    closedir(folder);
    return failed;
}

int main(int argc, char **argv) {
    int failed = argc < 2;
    for (int i = 1; i < argc; ++i) {
        failed |= replay(argv[i]);
    }
    printf("%lu inputs\n", ran);
    return failed || !ran;
}
