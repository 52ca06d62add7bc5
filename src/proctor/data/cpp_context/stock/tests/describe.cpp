#include "stock/route.h"

int main() {
    stock::Graph graph;
    for (const char* name : {"yard", "dock", "ship"}) graph.add(name);
    assert(stock::describe(graph, {0, 1, 2}) == "yard -> dock -> ship");
    assert(stock::describe(graph, {2}) == "ship");
    assert(stock::describe(graph, {}).empty());
}
