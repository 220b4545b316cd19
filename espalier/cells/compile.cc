#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>

#include "espalier/base/error.h"
#include "espalier/cells/program.h"
#include "espalier/ops/step.h"

namespace espalier::cells {
namespace {

/// Floats of a tile: with values and gradients it stays in a first cache of 32 KB or more.
constexpr std::int64_t kTileFloats = 8192;
/// Operations on elements are this many multiply-adds of a product.
constexpr std::int64_t kElementWork = 16;

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
std::size_t at(NodeId node) { return static_cast<std::size_t>(index_of(node)); }

/// Op ids of programs; those of the registry are far below.
OpId next_op_id() {
  static std::atomic<std::int32_t> next{1 << 24};
  return OpId{next.fetch_add(1, std::memory_order_relaxed)};
}

/// Columns of a base, as intervals.
class Written {
 public:
  void add(std::int64_t begin, std::int64_t end) { list_.emplace_back(begin, end); }
  /// The parts of [begin, end) that are in no interval.
  std::vector<std::pair<std::int64_t, std::int64_t>> gaps(std::int64_t begin, std::int64_t end) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> sorted = list_;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::pair<std::int64_t, std::int64_t>> result;
    for (const auto& [from, to] : sorted) {
      if (to <= begin || from >= end) continue;
      if (from > begin) result.emplace_back(begin, from);
      begin = std::max(begin, to);
    }
    if (begin < end) result.emplace_back(begin, end);
    return result;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> list_;
};

}  // namespace

class Compiler {
 public:
  Compiler(const std::string& name, const Graph& trace, std::span<const NodeId> inputs,
           std::span<const std::string> names, std::span<const NodeId> results)
      : trace_(trace), inputs_(inputs), results_(results), program_(new Program()) {
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
    make_groups();
    plan_backward();
    open_in_place();
    keep_for_backward();
    place_temps();
    make_infos();
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
    return program_->inputs_.size() <= kMostInputs;
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
    if (signature.info->kind == Kind::kLeaf || trace_.shared(node)) return false;
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

  // --- groups --------------------------------------------------------------------------------------------------------

  void make_groups() {
    group_of_.resize(code().size());
    for (std::size_t i = 0; i < code().size(); ++i) {
      const auto number = static_cast<std::int32_t>(i);
      std::vector<Group>& groups = program_->groups_;
      const bool joins = !groups.empty() && !code()[i].is_product() && !code()[at(groups.back().first)].is_product();
      if (joins)
        groups.back().last = number + 1;
      else
        groups.push_back({number, number + 1, 1});
      group_of_[i] = static_cast<std::int32_t>(groups.size()) - 1;
    }
    for (Group& group : program_->groups_) {
      std::int64_t floats = 1;
      for (std::int32_t i = group.first; i < group.last; ++i) floats += value(code()[at(i)].out).width;
      group.tile_rows = std::max<std::int64_t>(1, kTileFloats / floats);
      if (!code()[at(group.first)].is_product()) program_->tile_rows_ = std::max(program_->tile_rows_, group.tile_rows);
    }
    for (Instruction& instruction : code()) {
      for (std::int32_t operand : instruction.in) instruction.shapes.push_back(value(operand).shape);
      std::int64_t work = value(instruction.out).width * kElementWork;
      if (instruction.is_product()) work = value(instruction.in[at(instruction.parts)]).width;
      program_->work_ += work;
    }
  }

  // --- backward ------------------------------------------------------------------------------------------------------

  void plan_backward() {
    std::vector<Written> written(program_->bases_.size());
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> input_writers(program_->inputs_.size());
    for (std::size_t b = 0; b < written.size(); ++b)
      if (program_->bases_[b].place == Place::kResult) written[b].add(0, program_->bases_[b].width);
    for (std::size_t i = code().size(); i-- > 0;) {
      Instruction& instruction = code()[i];
      const auto zero_gaps = [&](const Value& of) {
        bool any = false;
        for (const auto& [begin, end] : written[at(of.base)].gaps(of.offset, of.offset + of.width)) {
          instruction.zeros.push_back({of.base, begin, end - begin});
          any = true;
        }
        written[at(of.base)].add(of.offset, of.offset + of.width);
        return any;
      };
      zero_gaps(value(instruction.out));
      const std::size_t operands =
          instruction.is_product() ? static_cast<std::size_t>(instruction.parts) : instruction.in.size();
      instruction.writes.assign(instruction.in.size(), Write::kNone);
      for (std::size_t k = 0; k < operands; ++k) {
        const Value& operand = value(instruction.in[k]);
        if (operand.base == kNone) continue;
        const Base& base = program_->bases_[at(operand.base)];
        if (base.place == Place::kInput) {
          instruction.writes[k] = Write::kAdd;
          input_writers[at(base.number)].emplace_back(i, k);
          continue;
        }
        const auto gaps = written[at(operand.base)].gaps(operand.offset, operand.offset + operand.width);
        std::int64_t open = 0;
        for (const auto& [begin, end] : gaps) open += end - begin;
        if (open == operand.width && operand.width > 0) {
          instruction.writes[k] = Write::kStore;
          written[at(operand.base)].add(operand.offset, operand.offset + operand.width);
        } else {
          zero_gaps(operand);
          instruction.writes[k] = Write::kAdd;
        }
      }
    }
    for (std::size_t number = 0; number < input_writers.size(); ++number) {
      if (program_->inputs_[number].role != Role::kStacked) continue;
      const auto& writers = input_writers[number];
      if (writers.size() == 1) {
        const auto [i, k] = writers[0];
        const Value& operand = value(code()[i].in[k]);
        if (operand.width == program_->bases_[at(operand.base)].width) {
          code()[i].writes[k] = Write::kInput;
          continue;
        }
      }
      program_->zeroed_inputs_.push_back(static_cast<std::int32_t>(number));
    }
  }

  /// Where all of a temp's columns are opened by ops that can leave the result in their place, it is kept as it is
  /// then, and its gradient takes that place: such a row is written twice, and read while it is in the cache.
  void open_in_place() {
    for (std::size_t b = 0; b < program_->bases_.size(); ++b)
      if (program_->bases_[b].place == Place::kTemp && is_opened_once(static_cast<std::int32_t>(b))) {
        program_->bases_[b].gradient_in_saved = true;
        for (Instruction& instruction : code())
          if (reads(instruction, static_cast<std::int32_t>(b)) && !instruction.is_product()) open_in_place(instruction);
      }
  }
  bool reads(const Instruction& instruction, std::int32_t base) {
    return std::any_of(instruction.in.begin(), instruction.in.end(),
                       [&](std::int32_t id) { return value(id).base == base; });
  }
  bool is_opened_once(std::int32_t base) {
    bool is_multiplied = false;
    bool is_opened = false;
    for (const Instruction& instruction : code()) {
      is_multiplied |= instruction.is_product() && value(instruction.out).base == base;
      if (!reads(instruction, base)) continue;
      if (instruction.info->overwrites == nullptr) return false;
      is_opened = true;
      const std::uint32_t mask = instruction.info->overwrites(instruction.in.size());
      for (std::size_t k = 0; k < instruction.in.size(); ++k) {
        const bool overwritten = (mask >> k & 1U) != 0;
        // What it overwrites must all be of this base, and be nobody else's.
        if (overwritten != (value(instruction.in[k]).base == base)) return false;
        if (overwritten && instruction.writes[k] != Write::kStore) return false;
      }
    }
    return is_multiplied && is_opened;
  }
  void open_in_place(Instruction& instruction) {
    instruction.in_place = true;
    instruction.saved_floats = instruction.info->saved_in_place(
        instruction.attrs.data(), InputShapes(instruction.info->name, instruction.info->inputs, instruction.shapes));
    overwrites_saved_ = true;
  }

  // --- what backward reads -------------------------------------------------------------------------------------------

  void keep_for_backward() {
    keep_inputs_ = keep_results_ = 0;
    std::int64_t saved = 0;
    const auto keep = [&](const Value& kept, bool for_weights) {
      if (kept.base == kNone) {  // it may be computed from parameters
        keep_inputs_ |= 1U << kept.shared;
        return;
      }
      Base& base = program_->bases_[at(kept.base)];
      if (base.place == Place::kInput) {
        keep_inputs_ |= 1U << base.number;
        if (for_weights) weights_read_inputs_ |= 1U << base.number;
      } else if (base.place == Place::kResult) {
        keep_results_ |= 1U << base.number;
        if (for_weights) weights_read_results_ |= 1U << base.number;
      } else if (base.saved < 0) {
        base.saved = saved;
        saved += base.width;
      }
    };
    std::int64_t deferred = 0;
    for (Instruction& instruction : code()) {
      const bool product = instruction.is_product();
      const OpInfo& info = *instruction.info;
      for (std::size_t k = 0; k < instruction.in.size(); ++k) {
        const bool reads = product ? k <= static_cast<std::size_t>(instruction.parts) : info.keeps(k);
        if (reads) keep(value(instruction.in[k]), instruction.any_shared);
      }
      if (product && base_of(instruction.out).gradient_in_saved) keep(value(instruction.out), false);
      if (!product && info.keep.output) keep(value(instruction.out), instruction.any_shared);
      if (instruction.saved_floats > 0) {
        instruction.saved = saved;
        saved += instruction.saved_floats;
      }
      Base& out = base_of(instruction.out);
      const bool is_main = out.place == Place::kResult && out.number == 0;  // whose gradient stays
      if (instruction.any_shared && !is_main && !out.gradient_in_saved && out.deferred < 0) {
        out.deferred = deferred;
        deferred += out.width;
      }
      if (instruction.any_shared && is_main) weights_read_dy_ = true;
    }
    program_->saved_ = overwrites_saved_ ? spread(saved) : saved;
    program_->deferred_ = deferred;
  }

  /// Rows that products read are an odd number of cache lines apart: a power of two would put them all into the same few
  /// places of the first cache.
  static std::int64_t spread(std::int64_t floats) {
    constexpr std::int64_t kLine = 16;
    constexpr std::int64_t kLeast = 16 * kLine;  // shorter rows would grow too much
    return floats < kLeast ? floats : ((floats + kLine - 1) / kLine | 1) * kLine;
  }

  // --- memory --------------------------------------------------------------------------------------------------------

  /// A temp whose maker and readers are of one group lives in its tiles.
  void place_temps() {
    constexpr std::int32_t kSeveral = -2;
    std::vector<std::int32_t> group(program_->bases_.size(), kNone);
    const auto touch = [&](std::int32_t id, std::int32_t by) {
      const std::int32_t base = value(id).base;
      if (base == kNone) return;
      group[at(base)] = group[at(base)] == kNone || group[at(base)] == by ? by : kSeveral;
    };
    for (std::size_t i = 0; i < code().size(); ++i) {
      const std::int32_t by = code()[i].is_product() ? kSeveral : group_of_[i];
      for (std::int32_t operand : code()[i].in) touch(operand, by);
      touch(code()[i].out, by);
    }
    Program::Scratch& scratch = program_->scratch_;
    for (std::size_t b = 0; b < group.size(); ++b) {
      Base& base = program_->bases_[b];
      if (base.place != Place::kTemp || group[b] == kNone) continue;
      base.in_tile = group[b] >= 0;
      base.gradient_in_tile = base.in_tile && base.deferred < 0 && !base.gradient_in_saved;
      std::int64_t& room = base.in_tile ? scratch.tile : scratch.piece;
      base.scratch = room;
      room += base.width;
      std::int64_t& gradient_room = base.gradient_in_tile ? scratch.tile_gradients : scratch.piece_gradients;
      base.gradient_scratch = gradient_room;
      gradient_room += base.width;
    }
  }

  // --- the op --------------------------------------------------------------------------------------------------------

  void find_blocks() {
    std::int32_t block = 0;
    for (const Instruction& instruction : code()) {
      if (!instruction.is_product()) continue;
      bool fits = true;
      for (std::int32_t k = 0; k < instruction.parts; ++k) {
        const Value& part = value(instruction.in[at(k)]);
        const Base& base = program_->bases_[at(part.base)];
        fits = fits && base.place == Place::kInput && part.width == base.width &&
               program_->inputs_[at(base.number)].block < 0;
      }
      if (!fits) continue;
      for (std::int32_t k = 0; k < instruction.parts; ++k)
        program_->inputs_[at(base_of(instruction.in[at(k)]).number)].block = block;
      ++block;
    }
  }

  void make_infos() {
    find_blocks();
    for (std::size_t i = 0; i < program_->inputs_.size(); ++i) program_->inputs_[i].name = program_->input_names_[i];
    static_assert(kAddressBytes == 2 * sizeof(std::uint32_t));
    program_->infos_.resize(results_.size());
    for (std::size_t k = 1; k < results_.size(); ++k)
      program_->result_names_.push_back(program_->name_ + "." + std::to_string(k));
    program_->result_inputs_ = {Input{"cell", Role::kStacked, -1}};
    for (std::size_t k = 0; k < results_.size(); ++k) {
      OpInfo& info = program_->infos_[k];
      info.id = next_op_id();
      info.kind = k == 0 ? Kind::kCell : Kind::kResult;
      info.attr_words = 2;
      info.keep.output = (keep_results_ >> k & 1U) != 0;
      info.contract = "a cell";
    }
    OpInfo& cell = program_->infos_[0];
    cell.name = program_->name_;
    cell.inputs = program_->inputs_;
    cell.keep_mask = keep_inputs_;
    cell.field_bytes = static_cast<std::int32_t>(random_bytes_);
    cell.random = random_bytes_ > 0;
    cell.gathers = true;
    cell.stores_shared = true;
    cell.results = static_cast<std::int32_t>(results_.size());
    cell.deferred = program_->deferred_;
    cell.weights_read_inputs = weights_read_inputs_;
    cell.weights_read_results = weights_read_results_;
    cell.weights_read_dy = weights_read_dy_;
    cell.overwrites_saved = overwrites_saved_;
    cell.infer = [](const void* attrs, const InputShapes&) { return program_of(attrs).result_shape(0); };
    cell.saved = [](const void* attrs, const InputShapes&) { return program_of(attrs).saved(); };
    cell.forward = &run_forward;
    cell.backward = &run_backward;
    cell.weight_gradients = &run_weight_gradients;
    cell.prepare();
    for (std::size_t k = 1; k < results_.size(); ++k) {
      OpInfo& info = program_->infos_[k];
      info.name = program_->result_names_[k - 1];
      info.inputs = program_->result_inputs_;
      info.result = static_cast<std::int32_t>(k);
      info.attr_words = 3;
      info.infer = [](const void* attrs, const InputShapes&) {
        std::uint32_t number = 0;
        std::memcpy(&number, static_cast<const std::byte*>(attrs) + kAddressBytes, sizeof(number));
        return program_of(attrs).result_shape(number);
      };
      info.prepare();
    }
  }

  static constexpr std::int32_t kPartsOnly = -2;

  const Graph& trace_;
  std::span<const NodeId> inputs_;
  std::span<const NodeId> results_;
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
  std::vector<std::int32_t> group_of_;  // by instruction
  std::int64_t random_bytes_ = 0;
  std::uint32_t keep_inputs_ = 0;
  std::uint32_t keep_results_ = 0;
  std::uint32_t weights_read_inputs_ = 0;
  std::uint32_t weights_read_results_ = 0;
  bool weights_read_dy_ = false;
  bool overwrites_saved_ = false;
};

std::shared_ptr<Program> Program::compile(const std::string& name, const Graph& trace, std::span<const NodeId> inputs,
                                          std::span<const std::string> names, std::span<const NodeId> results) {
  return Compiler(name, trace, inputs, names, results).compile();
}

}  // namespace espalier::cells
