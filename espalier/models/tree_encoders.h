/// The tree encoders of SentimentNet, by the names of their cells.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "espalier/models/sentiment_net.h"

namespace espalier::models {

/// The names of the cells, the default first.
std::vector<std::string> tree_cells();

std::unique_ptr<const TreeEncoder> make_tree_encoder(Model& model, const SentimentSettings& settings,
                                                     std::int32_t words, const std::optional<Tensor>& vectors);

}  // namespace espalier::models
