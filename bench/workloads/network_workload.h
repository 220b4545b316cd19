/// NetworkWorkload: a workload that is a data set and a network, without a limit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bench/suite/data_workload.h"
#include "bench/suite/espalier_runner.h"
#include "bench/suite/names.h"
#include "bench/suite/network.h"

namespace espalier::bench {

template <class Instance>
class NetworkWorkload : public DataWorkload<Instance> {
 public:
  using Data = typename DataWorkload<Instance>::Data;
  using Count = std::size_t (*)(const Instance&);
  using Make = std::function<std::unique_ptr<Network>(const Data&)>;

  /// `count` gives the number of nodes of an instance. `recursion` makes the network that records an instance as one
  /// node, if there is one.
  NetworkWorkload(std::string_view name, std::string title, std::string sizes, Data data, Count count, Make maker,
                  Make recursion = nullptr)
      : DataWorkload<Instance>(name, std::move(title), std::move(sizes), std::move(data)),
        count_(count),
        make_(std::move(maker)),
        make_recursion_(std::move(recursion)) {}

  std::int32_t nodes(std::int32_t number) const override {
    return static_cast<std::int32_t>(count_(this->instance(number)));
  }
  bool has_limit() const override { return false; }
  std::unique_ptr<Runner> make(Variant variant, Leaves leaves) const override {
    const Make& maker = variant == Variant::kRecursion ? make_recursion_ : make_;
    if (is_limit(variant) || maker == nullptr) return nullptr;
    return make_espalier_runner(maker(this->data()), *this, variant, leaves);
  }

 private:
  Count count_;
  Make make_;
  Make make_recursion_;
};

}  // namespace espalier::bench
