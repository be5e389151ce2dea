/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's export of this program, and numbers in it: for tests that use the public interface
 * alone.
 */
#ifndef STINT_TESTS_GPU_REAL_JSON_H
#define STINT_TESTS_GPU_REAL_JSON_H

#include <stint/stint.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

/* "" if it cannot be exported. */
static inline std::string json_exported() {
    char path[] = "/tmp/stint-gpu-XXXXXX";
    char piece[4096];
    std::string text;
    close(mkstemp(path));
    if (stint_export(path, "json") == 0) {
        FILE *f = std::fopen(path, "r");
        for (size_t n; f && (n = std::fread(piece, 1, sizeof piece, f)) > 0;) {
            text.append(piece, n);
        }
        if (f) {
            std::fclose(f);
        }
    }
    unlink(path);
    return text;
}

static inline bool json_has_gpu(const std::string &json) {
    return json.find("\"gpu\":{") != std::string::npos;
}

/* The array of that name, up to the bracket that closes it; "" if there is none. */
static inline std::string json_array(const std::string &json, const char *name) {
    const size_t from = json.find("\"" + std::string(name) + "\":[");
    int depth = 0;
    for (size_t at = from; at < json.size(); ++at) {
        depth += (json[at] == '[') - (json[at] == ']');
        if (json[at] == ']' && depth == 0) {
            return json.substr(from, at - from);
        }
    }
    return "";
}

/* The numbers after `key` in the rows of a table that contain both texts, added up. Rows may hold
 * arrays, and no objects. */
static inline uint64_t json_sum(const std::string &json, const char *table, const char *one,
                                const char *other, const char *key) {
    const std::string rows = json_array(json, table);
    const std::string wanted = "\"" + std::string(key) + "\":";
    uint64_t sum = 0;
    for (size_t at = rows.find('{'); at != std::string::npos; at = rows.find('{', at + 1)) {
        const std::string row = rows.substr(at, rows.find('}', at) - at);
        const size_t found = row.find(wanted);
        if (row.find(one) != std::string::npos && row.find(other) != std::string::npos &&
            found != std::string::npos) {
            sum += std::strtoull(row.c_str() + found + wanted.size(), NULL, 10);
        }
    }
    return sum;
}

#endif
