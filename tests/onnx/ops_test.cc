/// Every op of the library's list has an ONNX form that computes the same, or is refused with a reason.
#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/graph/graph.h"
#include "espalier/graph/library_ops.h"
#include "espalier/onnx/emissions.h"
#include "espalier/ops/all.h"
#include "tests/onnx/cases.h"

namespace espalier::onnx {
namespace {

using espalier::testing::expect_runtime_agrees;
using espalier::testing::OnnxFolder;
using espalier::testing::write_case;

TEST(OnnxOps, EveryOpOfTheListIsWrittenOrRefusedWithAReason) {
  for (const OpInfo& info : library_ops()) {
    const Emission* emission = find_emission(info.name);
    ASSERT_NE(emission, nullptr) << "the op " << info.name << " has no ONNX form and no reason why it has none: add it "
                                 << "to a table of espalier/onnx/emit_*.cc";
    EXPECT_EQ(emission->form == Emission::Form::kRefused, !emission->reason.empty()) << info.name;
  }
}

TEST(OnnxOps, NoOpIsThereTwiceOrIsNoneOfTheList) {
  std::set<std::string_view> listed;
  for (const OpInfo& info : library_ops()) listed.insert(info.name);
  std::set<std::string_view> seen;
  for (const auto part : {map_emissions(), product_emissions(), reduce_emissions(), move_emissions()})
    for (const Emission& emission : part) {
      EXPECT_TRUE(seen.insert(emission.op).second) << emission.op;
      EXPECT_EQ(listed.count(emission.op), 1U) << emission.op;
    }
}

std::vector<Shape> shapes_of(const OpSample& sample) {
  if (!sample.expected) return sample.shapes;
  std::vector<Shape> shapes;
  for (const Tensor& input : sample.inputs) shapes.push_back(input.shape());
  return shapes;
}

enum class Share { kNone, kFirst, kOthers };  // of operands that may be shared

/// Uses of a sample with random numbers.
class SampleUses {
 public:
  SampleUses(const OpInfo& info, const OpSample& sample, Share share) : info_(info), sample_(sample) {
    for (std::size_t i = 0; i < shapes_of(sample).size(); ++i) {
      const Role role = info.takes_any_number() ? info.inputs[0].role : info.inputs[i].role;
      is_shared_.push_back(role == Role::kShared ||
                           (role == Role::kEither && share == (i == 0 ? Share::kFirst : Share::kOthers)));
      any_shared_ = any_shared_ || (is_shared_.back() && role == Role::kEither);
      if (is_shared_.back()) parameters_.emplace_back("p" + std::to_string(i), random_tensor(shapes_of(sample)[i]));
    }
  }
  bool any_shared() const { return any_shared_; }

  std::vector<Instance> record(Graph& graph, int count) {
    std::vector<Instance> instances;
    for (int k = 0; k < count; ++k) instances.push_back({record(graph)});
    return instances;
  }

 private:
  Tensor random_tensor(const Shape& shape) {
    Tensor tensor(shape);
    for (float& x : tensor.as<float>()) x = static_cast<float>(random_.uniform(sample_.low, sample_.high));
    return tensor;
  }
  Expr record(Graph& graph) {
    const std::vector<Shape> shapes = shapes_of(sample_);
    std::vector<Expr> list;
    std::vector<Operand> operands;
    std::size_t next = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (is_shared_[i]) {
        operands.emplace_back(&parameters_[next++], SourceLine{__FILE__, __LINE__});
        continue;
      }
      list.push_back(graph.input(random_tensor(shapes[i])));
      operands.emplace_back(list.back());
    }
    const auto& call = sample_.call;
    if (info_.takes_any_number()) return graph.record(info_, call.attrs.data(), call.fields.data(), Operands(list));
    return graph.record(info_, call.attrs.data(), call.fields.data(), operands);
  }

  const OpInfo& info_;
  const OpSample& sample_;
  std::vector<bool> is_shared_;
  bool any_shared_ = false;
  std::deque<Parameter> parameters_;
  Random random_{7};
};

bool has_elements(const OpSample& sample) {
  for (const Shape& shape : shapes_of(sample))
    if (shape.elements() == 0) return false;
  return true;
}

TEST(OnnxOps, OnnxRuntimeComputesTheSamplesOfEveryOp) {
  const OnnxFolder folder;
  int cases = 0;
  for (const OpInfo& listed : library_ops()) {
    const OpInfo& info = op_info(find_op(listed.name));
    if (info.kind == Kind::kLeaf || info.takes_whole || info.row_an_operand || info.random) continue;
    const Samples samples = info.samples();
    for (std::size_t s = 0; s < samples.size(); ++s)
      for (const Share share : {Share::kNone, Share::kFirst, Share::kOthers}) {
        if (!has_elements(samples[s])) continue;
        SampleUses uses(info, samples[s], share);
        if ((share != Share::kNone) != uses.any_shared()) continue;
        Graph graph;
        SCOPED_TRACE(std::string(info.name) + " " + std::to_string(s));
        const std::vector<Instance> instances = uses.record(graph, 3);
        write_case(
            folder / (std::string(info.name) + "." + std::to_string(static_cast<int>(share)) + "." + std::to_string(s)),
            {"y"}, instances, instances);
        ++cases;
      }
  }
  expect_runtime_agrees(folder, cases);
}

TEST(OnnxOps, OpsThatNameRowsOfOthersComputeNothing) {
  const OnnxFolder folder;
  Graph graph;
  const Expr x = graph.rows({2}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  const Expr one = graph.input({2}, {9, 10});
  const std::vector<Instance> instances{{row(x, 2)}, {first_rows(x, 3)}, {rows({one, x})}};
  write_case(folder / "rows", {"y"}, instances, instances);
  const Expr pairs = join_rows(x, 2);
  write_case(folder / "joined", {"y"}, {{pairs}}, {{pairs}, {first_rows(pairs, 1)}});
  EXPECT_EQ(Weaver(folder / "rows/model.onnx").signatures(), std::vector<std::string>{"row[2]"});
  expect_runtime_agrees(folder, 2);
}

std::string refusal_of(const std::vector<Instance>& samples) {
  const OnnxFolder folder;
  try {
    write(folder / "model.onnx", {"y"}, samples);
  } catch (const UsageError& error) {
    EXPECT_FALSE(std::filesystem::exists(folder / "model.onnx"));
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return "was written";
}

TEST(OnnxOps, WhatCannotBeExportedIsRefusedByNameWhenItIsWritten) {
  Graph training({.training = true});
  const Expr x = training.input({2}, {1, 2});
  EXPECT_EQ(refusal_of({{dropout(x, 0.5)}}),
            "onnx: the op dropout cannot be exported: it draws random numbers; record the samples outside of training");
}

}  // namespace
}  // namespace espalier::onnx
