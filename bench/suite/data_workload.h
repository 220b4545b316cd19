/// DataWorkload: the part of a Workload that holds its name, title, sizes and data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bench/data/sets.h"
#include "bench/suite/workload.h"

namespace espalier::bench {

template <class Instance>
class DataWorkload : public Workload {
 public:
  using Data = std::shared_ptr<const DataSet<Instance>>;

  std::string_view name() const final { return name_; }
  std::string_view title() const final { return title_; }
  std::string sizes() const final { return sizes_; }
  bool is_real_data() const final { return data_->real; }
  std::int32_t instances() const final { return static_cast<std::int32_t>(data_->instances.size()); }

 protected:
  DataWorkload(std::string_view name, std::string title, std::string sizes, Data data)
      : name_(name), title_(std::move(title)), sizes_(std::move(sizes)), data_(std::move(data)) {}

  const Data& data() const { return data_; }
  const Instance& instance(std::int32_t number) const { return data_->instances[static_cast<std::size_t>(number)]; }

 private:
  std::string name_;
  std::string title_;
  std::string sizes_;
  Data data_;
};

}  // namespace espalier::bench
