#include "stock/route.h"

#include <functional>
#include <queue>
#include <utility>

namespace stock {

// HOLE reachable
std::vector<int> reachable(const Graph& graph, int from) {
    std::vector<bool> seen(graph.size(), false);
    std::vector<int> found{from};
    seen[from] = true;
    for (std::size_t at = 0; at < found.size(); ++at) {
        for (const Edge& edge : graph.edges(found[at])) {
            if (seen[edge.to]) continue;
            seen[edge.to] = true;
            found.push_back(edge.to);
        }
    }
    return found;
}
// END reachable

// HOLE distance
std::optional<int> distance(const Graph& graph, int from, int to) {
    using Step = std::pair<int, int>;
    std::vector<bool> done(graph.size(), false);
    std::priority_queue<Step, std::vector<Step>, std::greater<Step>> open;
    open.push({0, from});
    while (!open.empty()) {
        const auto [length, node] = open.top();
        open.pop();
        if (node == to) return length;
        if (done[node]) continue;
        done[node] = true;
        for (const Edge& edge : graph.edges(node)) open.push({length + edge.weight, edge.to});
    }
    return std::nullopt;
}
// END distance

// HOLE sorted
std::optional<std::vector<int>> sorted(const Graph& graph) {
    const int size = static_cast<int>(graph.size());
    std::vector<int> before(size, 0);
    for (int node = 0; node < size; ++node) {
        for (const Edge& edge : graph.edges(node)) ++before[edge.to];
    }
    std::priority_queue<int, std::vector<int>, std::greater<int>> free;
    for (int node = 0; node < size; ++node) {
        if (before[node] == 0) free.push(node);
    }
    std::vector<int> order;
    while (!free.empty()) {
        const int node = free.top();
        free.pop();
        order.push_back(node);
        for (const Edge& edge : graph.edges(node)) {
            if (--before[edge.to] == 0) free.push(edge.to);
        }
    }
    if (order.size() != graph.size()) return std::nullopt;
    return order;
}
// END sorted

// HOLE describe
std::string describe(const Graph& graph, const std::vector<int>& nodes) {
    std::string text;
    for (const int node : nodes) {
        if (!text.empty()) text += " -> ";
        text += graph.name(node);
    }
    return text;
}
// END describe

}  // namespace stock
