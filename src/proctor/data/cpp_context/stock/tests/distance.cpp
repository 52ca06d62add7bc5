#include "stock/route.h"

int main() {
    stock::Graph graph;
    for (const char* name : {"a", "b", "c", "d"}) graph.add(name);
    graph.connect(0, 1, 10);
    graph.connect(0, 2, 2);
    graph.connect(2, 1, 3);
    graph.connect(1, 0, 1);
    assert(stock::distance(graph, 0, 1) == 5);
    assert(stock::distance(graph, 2, 0) == 4);
    assert(stock::distance(graph, 3, 3) == 0);
    assert(!stock::distance(graph, 0, 3));
}
