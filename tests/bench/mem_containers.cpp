// SPDX-License-Identifier: Apache-2.0
//
// A program of containers and strings, for the time that counting its memory takes:
//
//     mem_containers [ROUNDS]
//
// Its CPU time is compared with and without libstint-mem.so, and with other tools.
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "stint/stint.h"

namespace {

unsigned state = 1;

std::string make_word() {
    char text[48];
    state = state * 1664525U + 1013904223U;
    std::snprintf(text, sizeof text, "a word that is long %u", (state >> 8) % 100000);
    return text;
}

std::size_t run_maps() {
    REGISTER_TIMER("map");
    std::map<std::string, std::vector<int>> words;
    for (int i = 0; i < 150000; ++i) {
        words[make_word()].push_back(i);
    }
    REGISTER_TIMER("copy");
    const auto copy = words;
    return copy.size();
}

std::size_t run_hash() {
    REGISTER_TIMER("hash");
    std::unordered_map<std::string, int> words;
    for (int i = 0; i < 200000; ++i) {
        ++words[make_word()];
    }
    return words.size();
}

std::size_t run_list() {
    REGISTER_TIMER("list");
    std::list<std::string> words;
    for (int i = 0; i < 200000; ++i) {
        words.push_back(make_word());
        if (words.size() > 1000) {
            words.pop_front();
        }
    }
    words.sort();
    return words.size();
}

struct tree {
    std::unique_ptr<tree> left, right;
    std::string word;
};

std::unique_ptr<tree> make_tree(int depth) {
    REGISTER_TIMER("make");
    if (!depth) {
        return nullptr;
    }
    std::unique_ptr<tree> made(new tree);
    made->word = make_word();
    made->left = make_tree(depth - 1);
    made->right = make_tree(depth - 1);
    return made;
}

std::size_t add_up(const tree *t) {
    return t ? t->word.size() + add_up(t->left.get()) + add_up(t->right.get()) : 0;
}

std::size_t run_tree() {
    REGISTER_TIMER("tree");
    const auto made = make_tree(16);
    std::size_t sum = 0;
    for (int i = 0; i < 5; ++i) {
        sum += add_up(made.get());
    }
    return sum;
}

std::size_t run_strings() {
    REGISTER_TIMER("strings");
    std::vector<std::string> kept;
    for (int i = 0; i < 300000; ++i) {
        const std::string both = make_word() + make_word();
        if (i % 3 == 0) {
            kept.push_back(both);
        }
    }
    return kept.size();
}

} // namespace

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
    std::size_t sum = 0;
    for (int i = 0; i < rounds; ++i) {
        sum += run_maps() + run_hash() + run_list() + run_tree() + run_strings();
    }
    std::printf("%zu\n", sum);
    return 0;
}
