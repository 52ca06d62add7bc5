#include "stock/route.h"

int main() {
    stock::Graph graph;
    for (const char* name : {"a", "b", "c", "d"}) graph.add(name);
    assert(stock::sorted(graph) == (std::vector<int>{0, 1, 2, 3}));
    graph.connect(3, 0);
    graph.connect(0, 1);
    graph.connect(3, 1);
    assert(stock::sorted(graph) == (std::vector<int>{2, 3, 0, 1}));
    graph.connect(1, 3);
    assert(!stock::sorted(graph));
}
