/// The node of record(), whose keys wires of a composition know too.
#pragma once

#include <cstddef>
#include <string>

#include "espalier/blocks/node.h"

namespace espalier::blocks {

class RecordNode : public BlockNode {
 public:
  explicit RecordNode(bool by_name) : by_name_(by_name) {}

  std::string label() const override;
  void infer(Inference& types) override;
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override;
  /// Of child i; empty by place.
  std::string key(std::size_t i) const { return by_name_ ? children[i].label : std::string(); }
  /// The place of a key; the number of children where there is none.
  std::size_t find(const std::string& key) const;

 private:
  bool by_name_;
};

}  // namespace espalier::blocks
