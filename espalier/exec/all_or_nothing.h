/// AllOrNothing: a backward pass that ends by an exception leaves the gradients as they were before it.
#pragma once

#include <span>
#include <vector>

#include "espalier/exec/gradients.h"

namespace espalier::exec {

class AllOrNothing {
 public:
  /// Each of `all` is listed once. They must not be used by anything else until the end.
  explicit AllOrNothing(std::span<Gradients* const> all) : all_(all.begin(), all.end()) {
    for (Gradients* gradients : all_) gradients->begin_pass();
  }
  ~AllOrNothing() {
    for (Gradients* gradients : all_) gradients->undo_pass();
  }
  AllOrNothing(const AllOrNothing&) = delete;
  AllOrNothing& operator=(const AllOrNothing&) = delete;

  /// The pass has succeeded.
  void keep() {
    for (Gradients* gradients : all_) gradients->end_pass();
    all_.clear();
  }

 private:
  std::vector<Gradients*> all_;
};

}  // namespace espalier::exec
