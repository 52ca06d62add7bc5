#include "stock/graph.h"

#include <utility>

namespace stock {

int Graph::add(std::string name) {
    names_.push_back(std::move(name));
    edges_.emplace_back();
    return static_cast<int>(names_.size()) - 1;
}

void Graph::connect(int from, int to, int weight) {
    edges_.at(from).push_back(Edge{to, weight});
}

}  // namespace stock
