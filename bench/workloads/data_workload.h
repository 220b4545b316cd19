/// DataWorkload: a workload that is a data set and a network, without a limit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bench/data/sets.h"
#include "bench/suite/espalier_runner.h"
#include "bench/suite/network.h"
#include "bench/suite/workload.h"

namespace espalier::bench {

template <class Instance>
class DataWorkload : public Workload {
 public:
  using Data = std::shared_ptr<const DataSet<Instance>>;

  struct Parts {
    std::string_view name;
    std::string_view title;
    std::string sizes;
    Data data;
    std::function<std::size_t(const Instance&)> nodes;
    std::function<std::unique_ptr<Network>()> make_network;
  };
  explicit DataWorkload(Parts parts) : parts_(std::move(parts)) {}

  std::string_view name() const override { return parts_.name; }
  std::string_view title() const override { return parts_.title; }
  std::string sizes() const override { return parts_.sizes; }
  bool is_real_data() const override { return parts_.data->real; }
  std::int32_t instances() const override { return static_cast<std::int32_t>(parts_.data->instances.size()); }
  std::int32_t nodes(std::int32_t instance) const override {
    return static_cast<std::int32_t>(parts_.nodes(parts_.data->instances[static_cast<std::size_t>(instance)]));
  }
  bool has_limit() const override { return false; }
  std::unique_ptr<Runner> make(Variant variant, Leaves leaves) const override {
    if (variant == Variant::kLimit || variant == Variant::kLimitDedupe) return nullptr;
    return make_espalier_runner(parts_.make_network(), variant, leaves);
  }

 private:
  Parts parts_;
};

}  // namespace espalier::bench
