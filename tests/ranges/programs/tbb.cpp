// SPDX-License-Identifier: Apache-2.0
// A flow graph of two nodes, 500 messages through each, then a loop.
#include <atomic>
#include <tbb/flow_graph.h>
#include <tbb/parallel_for.h>

int main() {
    std::atomic<int> calls{0};
    tbb::flow::graph graph;
    auto count = [&](int value) {
        ++calls;
        return value;
    };
    tbb::flow::function_node<int, int> first(graph, 1, count), second(graph, 1, count);
    tbb::flow::make_edge(first, second);
    for (int i = 0; i < 500; ++i) {
        first.try_put(i);
    }
    graph.wait_for_all();
    tbb::parallel_for(0, 1000, [&](int) { ++calls; });
    return calls != 2000;
}
