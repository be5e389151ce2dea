/* SPDX-License-Identifier: Apache-2.0 */
/* Containers and algorithms of the standard library. */
#include <algorithm>
#include <map>
#include <string>
#include <vector>
static int order(const std::vector<int> &values) {
    auto copy = values;
    std::sort(copy.begin(), copy.end(), [](int a, int b) { return a > b; });
    return copy.front();
}
extern "C" int corpus_containers() {
    std::vector<int> values = {3, 1, 2};
    values.push_back(9);
    std::map<std::string, int> names;
    names["a"] = order(values);
    for (const auto &[name, value] : names) {
        if (name == "a") {
            return value;
        }
    }
    return 0;
}
