#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stock/graph.h"

namespace stock {

/// All nodes that one can get to from a node, itself first, each before those behind it.
std::vector<int> reachable(const Graph& graph, int from);

/// The least sum of weights from one node to another; weights are not negative.
std::optional<int> distance(const Graph& graph, int from, int to);

/// All nodes so that ways only lead onwards, smaller ones first where there is a choice.
/// Nothing if there is a circle.
std::optional<std::vector<int>> sorted(const Graph& graph);

/// The names of some nodes with arrows between them, as `a -> b`.
std::string describe(const Graph& graph, const std::vector<int>& nodes);

}  // namespace stock
