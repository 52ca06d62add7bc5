#include "stock/route.h"

int main() {
    stock::Graph graph;
    for (const char* name : {"a", "b", "c", "d"}) graph.add(name);
    graph.connect(0, 1);
    graph.connect(1, 2);
    graph.connect(2, 0);
    assert(stock::reachable(graph, 0) == (std::vector<int>{0, 1, 2}));
    assert(stock::reachable(graph, 2) == (std::vector<int>{2, 0, 1}));
    assert(stock::reachable(graph, 3) == (std::vector<int>{3}));
}
