#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stock {

struct Edge {
    int to = 0;
    int weight = 1;
};

/// Places and the ways between them; a way goes in one direction.
class Graph {
public:
    int add(std::string name);
    void connect(int from, int to, int weight = 1);

    std::size_t size() const { return names_.size(); }
    const std::string& name(int node) const { return names_.at(node); }
    const std::vector<Edge>& edges(int node) const { return edges_.at(node); }

private:
    std::vector<std::string> names_;
    std::vector<std::vector<Edge>> edges_;
};

}  // namespace stock
