#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "espalier/base/at.h"
#include "espalier/cells/layout.h"
#include "espalier/cells/program.h"

namespace espalier::cells {

class Compiler {
 public:
  Compiler(const std::string& name, const Graph& trace, std::span<const NodeId> inputs,
           std::span<const std::string> names, std::span<const NodeId> results, std::string& why_not)
      : trace_(trace), inputs_(inputs), results_(results), why_not_(why_not), program_(new Program()) {
    program_->name_ = name;
    program_->input_names_.assign(names.begin(), names.end());
    value_of_.assign(static_cast<std::size_t>(trace.size()), kNone);
    uses_.assign(static_cast<std::size_t>(trace.size()), 0);
  }

  std::shared_ptr<Program> compile() {
    find_needed();
    if (!open_inputs()) return nullptr;
    for (std::int32_t i = 0; i < trace_.size(); ++i)
      if (needed_[static_cast<std::size_t>(i)] && value_of_[static_cast<std::size_t>(i)] == kNone)
        if (!lower(NodeId{i})) return nullptr;
    add_result_copies();
    std::erase_if(code(), [](const Instruction& instruction) { return instruction.info == nullptr; });
    lay_out(*program_, results_.size(), random_bytes_);
    return std::move(program_);
  }

 private:
  static constexpr std::int32_t kNone = -1;

  Value& value(std::int32_t id) { return program_->values_[at(id)]; }
  Base& base_of(std::int32_t id) { return program_->bases_[at(value(id).base)]; }
  std::vector<Instruction>& code() { return program_->instructions_; }

  // --- what is needed ------------------------------------------------------------------------------------------------

  void find_needed() {
    needed_.assign(static_cast<std::size_t>(trace_.size()), false);
    std::vector<bool> is_input(needed_.size(), false);
    for (NodeId input : inputs_) is_input[at(input)] = true;
    for (NodeId result : results_) {
      needed_[at(result)] = true;
      ++uses_[at(result)];
    }
    for (std::int32_t i = trace_.size() - 1; i >= 0; --i) {
      const NodeId node{i};
      if (!needed_[at(node)] || is_input[at(node)]) continue;
      for (NodeId input : trace_.inputs(node)) {
        needed_[at(input)] = true;
        ++uses_[at(input)];
        users_[input].push_back(node);
      }
    }
  }

  std::int32_t add_value(const Value& made) {
    program_->values_.push_back(made);
    return static_cast<std::int32_t>(program_->values_.size()) - 1;
  }
  std::int32_t add_base(Place place, std::int32_t number, const Shape& shape) {
    program_->bases_.push_back({.place = place, .number = number, .width = shape.elements()});
    return add_value({.base = static_cast<std::int32_t>(program_->bases_.size()) - 1,
                      .shared = kNone,
                      .offset = 0,
                      .width = shape.elements(),
                      .shape = shape});
  }
  std::int32_t add_shared(NodeId node, Role role, const std::string& name) {
    program_->inputs_.push_back({{}, role, -1});
    if (program_->input_names_.size() < program_->inputs_.size()) program_->input_names_.push_back(name);
    const Shape& shape = trace_.type(node).shape;
    return add_value({.base = kNone,
                      .shared = static_cast<std::int32_t>(program_->inputs_.size()) - 1,
                      .offset = 0,
                      .width = shape.elements(),
                      .shape = shape});
  }

  bool open_inputs() {
    for (NodeId input : inputs_) {
      if (trace_.shared(input)) {
        value_of_[at(input)] = add_shared(input, Role::kShared, {});
        continue;
      }
      program_->inputs_.push_back({{}, Role::kStacked, -1});
      value_of_[at(input)] =
          add_base(Place::kInput, static_cast<std::int32_t>(program_->inputs_.size()) - 1, trace_.type(input).shape);
    }
    for (std::int32_t i = 0; i < trace_.size(); ++i) {
      const NodeId node{i};
      const Parameter* parameter = trace_.parameter_of(node);
      if (!needed_[at(node)] || parameter == nullptr || value_of_[at(node)] != kNone) continue;
      value_of_[at(node)] = add_shared(node, Role::kShared, parameter->name());
      program_->parameters_.push_back(parameter);
    }
    if (program_->inputs_.size() <= kMostInputs) return true;
    why_not_ = fmt::format("its function has {} inputs and parameters, and at most {} can be compiled",
                           program_->inputs_.size(), kMostInputs);
    return false;
  }

  // --- instructions --------------------------------------------------------------------------------------------------

  bool is_result(NodeId node) const { return std::find(results_.begin(), results_.end(), node) != results_.end(); }
  std::int32_t result_number(NodeId node) const {
    return static_cast<std::int32_t>(std::find(results_.begin(), results_.end(), node) - results_.begin());
  }
  /// Where the result of a node is written: a temp, or a result of the cell.
  std::int32_t open_output(NodeId node) {
    const Shape& shape = trace_.type(node).shape;
    return is_result(node) ? add_base(Place::kResult, result_number(node), shape) : add_base(Place::kTemp, 0, shape);
  }
  bool is_weight_product(NodeId node) const {
    const std::string_view name = trace_.signature(node).info->name;
    if (name != "linear" && name != "affine") return false;
    const std::span<const NodeId> inputs = trace_.inputs(node);
    for (std::size_t i = 1; i < inputs.size(); ++i)
      if (!trace_.shared(inputs[i])) return false;
    return !trace_.shared(inputs[0]);
  }

  bool lower(NodeId node) {
    const Signature& signature = trace_.signature(node);
    if (signature.info->kind == Kind::kLeaf || trace_.shared(node)) {
      why_not_ = fmt::format("its function computes {} from parameters alone; Graph::derived() does so outside of it",
                             signature.info->name);
      return false;
    }
    std::int32_t& result = value_of_[at(node)];
    const std::span<const NodeId> inputs = trace_.inputs(node);
    if (signature.view >= 0) {
      Value view = value(value_of_[at(inputs[0])]);
      view.offset += signature.view;
      view.shape = trace_.type(node).shape;
      view.width = view.shape.elements();
      result = add_value(view);
    } else if (is_weight_product(node)) {
      result = add_product(node);
    } else if (signature.side_by_side && !is_result(node) && feeds_products_only(node)) {
      parts_[node].assign(inputs.begin(), inputs.end());
      result = kPartsOnly;
    } else if (signature.info->name == "sum") {
      result = add_sum(node);
    } else if (signature.info->name == "add" && fold_addition(node)) {
      return true;
    } else if (signature.info->name == "add") {
      result = open_output(node);
      add_addition(value_of_[at(inputs[0])], value_of_[at(inputs[1])], result);
    } else {
      std::vector<std::int32_t> operands;
      for (NodeId input : inputs) operands.push_back(value_of_[at(input)]);
      result = open_output(node);
      add_op(node, std::move(operands), result);
    }
    return true;
  }

  /// A concatenation that is only ever multiplied needs no memory of its own: its parts are multiplied side by side.
  bool feeds_products_only(NodeId node) {
    for (NodeId input : trace_.inputs(node))
      if (trace_.shared(input)) return false;
    const std::vector<NodeId>& users = users_[node];
    return std::all_of(users.begin(), users.end(), [&](NodeId user) {
      return is_weight_product(user) && trace_.inputs(user)[0] == node && trace_.inputs(user)[1] != node;
    });
  }

  Instruction& add_op(NodeId node, std::vector<std::int32_t> operands, std::int32_t out) {
    uses_of_value_[out] = uses_[at(node)];
    const Signature& signature = trace_.signature(node);
    Instruction made;
    made.info = signature.info;
    made.attrs.resize(static_cast<std::size_t>(signature.info->attr_words));
    if (!made.attrs.empty())
      std::memcpy(made.attrs.data(), trace_.attrs(node), made.attrs.size() * sizeof(std::uint32_t));
    if (signature.info->random) {
      made.random = random_bytes_;
      program_->random_.push_back({signature.info, random_bytes_, random_number(node)});
      random_bytes_ += (signature.info->field_bytes + 7) / 8 * 8;
    } else if (signature.info->field_bytes > 0) {
      const auto* fields = static_cast<const std::byte*>(trace_.fields(node));
      made.fields.assign(fields, fields + signature.info->field_bytes);
    }
    made.in = std::move(operands);
    made.out = out;
    made.saved_floats = signature.saved;
    for (std::int32_t operand : made.in) made.any_shared |= value(operand).base == kNone;
    code().push_back(std::move(made));
    return code().back();
  }

  std::uint32_t random_number(NodeId node) const {
    std::uint32_t before = 0;
    for (std::int32_t i = 0; i < index_of(node); ++i) before += trace_.signature(NodeId{i}).info->random ? 1 : 0;
    return before;
  }

  std::int32_t add_product(NodeId node) {
    const std::span<const NodeId> inputs = trace_.inputs(node);
    std::vector<std::int32_t> operands;
    if (const auto parts = parts_.find(inputs[0]); parts != parts_.end())
      for (NodeId part : parts->second) operands.push_back(value_of_[at(part)]);
    else
      operands.push_back(value_of_[at(inputs[0])]);
    const auto parts = static_cast<std::int32_t>(operands.size());
    for (NodeId input : inputs.subspan(1)) operands.push_back(value_of_[at(input)]);
    const std::int32_t out = open_output(node);
    add_op(node, std::move(operands), out).parts = parts;
    product_of_[node] = {code().size() - 1, code().size() - 1};
    return out;
  }

  /// x W + h U: the second product is added to the first.
  bool fold_addition(NodeId node) {
    const std::span<const NodeId> inputs = trace_.inputs(node);
    const auto a = product_of_.find(inputs[0]);
    const auto b = product_of_.find(inputs[1]);
    if (a != product_of_.end() && b == product_of_.end()) return add_to_copy(node, inputs[1], inputs[0]);
    if (a == product_of_.end() && b != product_of_.end()) return add_to_copy(node, inputs[0], inputs[1]);
    if (a == product_of_.end() || a == b) return false;
    if (uses_[at(inputs[0])] != 1 || uses_[at(inputs[1])] != 1) return false;
    const bool in_order = a->second.last < b->second.first;
    const Products earlier = in_order ? a->second : b->second;
    const Products later = in_order ? b->second : a->second;
    if (later.first != later.last || earlier.last >= later.first) return false;
    const std::int32_t out = code()[earlier.first].out;
    code()[later.first].out = out;
    code()[later.first].accumulates = true;
    if (is_result(node)) {
      base_of(out).place = Place::kResult;
      base_of(out).number = result_number(node);
    }
    value_of_[at(node)] = out;
    product_of_[node] = {earlier.first, later.last};
    return true;
  }

  /// x + h U, where x is an input: the product is added to a copy of it.
  bool add_to_copy(NodeId node, NodeId input, NodeId product) {
    const Products made_by = product_of_[product];
    const std::int32_t x = value_of_[at(input)];
    if (made_by.first != made_by.last || is_result(node) || uses_[at(product)] != 1) return false;
    if (x < 0 || value(x).base == kNone || base_of(x).place != Place::kInput) return false;
    const std::size_t at_product = made_by.first;
    const std::int32_t out = code()[at_product].out;
    code().insert(code().begin() + static_cast<std::ptrdiff_t>(at_product), copy_of(x, flat(out)));
    for (auto& [of, products] : product_of_) {
      products.first += products.first >= at_product ? 1 : 0;
      products.last += products.last >= at_product ? 1 : 0;
    }
    code()[at_product + 1].accumulates = true;
    value_of_[at(node)] = out;
    return true;
  }
  /// The same numbers as one line.
  std::int32_t flat(std::int32_t id) {
    Value line = value(id);
    line.shape = Shape{line.width};
    return add_value(line);
  }
  Instruction copy_of(std::int32_t from, std::int32_t to) {
    static const OpInfo& concat = op_info(find_op("concat"));
    Instruction made;
    made.info = &concat;
    made.attrs.assign(static_cast<std::size_t>(concat.attr_words), 0);
    made.in = {flat(from)};
    made.out = to;
    return made;
  }

  /// The instruction that made this value, if it is a product of elements that nobody else reads.
  Instruction* lonely_mul(std::int32_t id) {
    if (value(id).base == kNone || base_of(id).place != Place::kTemp) return nullptr;
    for (Instruction& made : code()) {
      if (made.info == nullptr || made.out != id) continue;
      const bool is_mul = made.info->name == "mul" && uses_of_value_[id] == 1;
      return is_mul ? &made : nullptr;
    }
    return nullptr;
  }

  /// y = a + b; y = p * q + b, where a is p * q and needed here only.
  void add_addition(std::int32_t a, std::int32_t b, std::int32_t out) {
    static const OpInfo& add = op_info(find_op("add"));
    static const OpInfo& mul_add = op_info(find_op("mul_add"));
    Instruction made;
    made.info = &add;
    made.in = {a, b};
    made.out = out;
    Instruction* mul = lonely_mul(b);
    const std::int32_t other = mul != nullptr ? a : b;
    if (mul == nullptr) mul = lonely_mul(a);
    if (mul != nullptr) {
      made.info = &mul_add;
      made.in = {mul->in[0], mul->in[1], other};
      mul->info = nullptr;  // taken in; left out at the end
    }
    for (std::int32_t operand : made.in) made.any_shared |= value(operand).base == kNone;
    code().push_back(std::move(made));
  }

  /// A sum of n values is n - 1 additions, which are maps.
  std::int32_t add_sum(NodeId node) {
    const std::span<const NodeId> inputs = trace_.inputs(node);
    std::int32_t sum = value_of_[at(inputs[0])];
    if (inputs.size() == 1) return sum;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      const bool is_last = i + 1 == inputs.size();
      const std::int32_t out = is_last ? open_output(node) : add_base(Place::kTemp, 0, trace_.type(node).shape);
      add_addition(sum, value_of_[at(inputs[i])], out);
      sum = out;
    }
    return sum;
  }

  /// Results that are no memory of their own: inputs, views, and what is a result twice.
  void add_result_copies() {
    for (std::size_t k = 0; k < results_.size(); ++k) {
      const std::int32_t from = value_of_[at(results_[k])];
      const auto number = static_cast<std::int32_t>(k);
      program_->result_shapes_.push_back(trace_.type(results_[k]).shape);
      const Base& base = base_of(from);
      if (base.place == Place::kResult && base.number == number && value(from).width == base.width) continue;
      code().push_back(copy_of(from, add_base(Place::kResult, number, Shape{value(from).width})));
    }
  }

  static constexpr std::int32_t kPartsOnly = -2;

  const Graph& trace_;
  std::span<const NodeId> inputs_;
  std::span<const NodeId> results_;
  std::string& why_not_;
  std::shared_ptr<Program> program_;
  std::vector<bool> needed_;
  std::vector<std::int32_t> uses_;
  std::map<NodeId, std::vector<NodeId>> users_;
  std::vector<std::int32_t> value_of_;  // by node
  std::map<std::int32_t, std::int32_t> uses_of_value_;
  std::map<NodeId, std::vector<NodeId>> parts_;
  /// The instructions whose products add up to a node: the first stores, the others accumulate.
  struct Products {
    std::size_t first;
    std::size_t last;
  };
  std::map<NodeId, Products> product_of_;
  std::int64_t random_bytes_ = 0;
};

std::shared_ptr<Program> Program::compile(const std::string& name, const Graph& trace, std::span<const NodeId> inputs,
                                          std::span<const std::string> names, std::span<const NodeId> results,
                                          std::string& why_not) {
  return Compiler(name, trace, inputs, names, results, why_not).compile();
}

}  // namespace espalier::cells
