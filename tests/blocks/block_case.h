/// A block in use, and what it must give in three ways: by the reference twin one instance after the other, batched
/// alone, and batched among unlike instances of its own and of another model. Values, gradients and types.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/blocks/three_ways.h"

namespace espalier::testing {

/// The parameters that blocks of the table are tried with.
struct CaseNet {
  Model model;
  Parameter& two = model.add("two", Shape{}, init::constant(2));
  Parameter& three = model.add("three", {2, 2}, init::constant(3));
  Parameter& pair = model.add("pair", {2}, init::constant(0));

  CaseNet() {
    pair.mutable_value().set(0, 2);
    pair.mutable_value().set(1, -1);
  }

  static Expr times(Expr a, Expr b) { return a * b; }
  /// A number x as 2 x.
  blocks::Block number() const { return blocks::all_of({blocks::scalar(), two}) >> times; }
  /// Numbers a, b as (2 a, -b).
  blocks::Block numbers() const { return blocks::all_of({blocks::vector(2), pair}) >> times; }
};

struct CaseExample {
  Value input;
  Value expected;
  /// What is collected: of metrics the value and the label, of taps the value, and the loss.
  Value aside = Value::list({});
};

struct BlockCase {
  std::string form;  // as the header that declares the block says it
  blocks::Block block;
  std::string type;
  std::vector<CaseExample> examples;
};

/// One instance on a graph.
struct CaseRecording {
  blocks::Recording recording;

  /// A number of all that depends on parameters, with a weight of its own for each tensor.
  Expr loss() const {
    std::vector<Expr> terms;
    for (const blocks::Output& output : recording.outputs) add_terms(output, terms);
    for (const auto& entry : recording.metrics) add_terms(entry.value, terms);
    for (const auto& entry : recording.taps) add_terms(entry.value, terms);
    if (recording.loss) terms.push_back(reshape(*recording.loss, {1}));
    return terms.empty() ? recording_without_tensors() : sum(terms);
  }
  Value output() const { return value_of(recording.outputs[0]); }
  Value aside() const {
    std::vector<Value> all;
    for (const auto& entry : recording.metrics) {
      all.push_back(value_of(entry.value));
      if (entry.label.type() != blocks::Type()) all.push_back(value_of(entry.label));
    }
    for (const auto& entry : recording.taps) all.push_back(value_of(entry.value));
    if (recording.loss) all.emplace_back(recording.loss->scalar());
    return Value::list(all);
  }

  Graph* graph = nullptr;

 private:
  static Value value_of(const blocks::Output& output) {
    return to_value(output.transformed([](const Expr& leaf) { return leaf.value(); }));
  }
  Expr recording_without_tensors() const { return graph->constant(Shape{1}, 0); }
};

/// Instances of one shape among those of others, on graphs of one or of all.
class CaseRun {
 public:
  CaseRun(const CaseNet& net, const BlockCase& tried)
      : examples_(tried.examples),
        program_(blocks::Program::of<Value>(tried.block)),
        stranger_(blocks::Program::of<Value>(blocks::map(net.numbers()) >>
                                             blocks::reduce([](Expr a, Expr b) { return tanh(a) + b; }))) {}

  const blocks::Program& program() const { return program_; }

  std::vector<CaseRecording> record(Graph& graph, const std::vector<CaseExample>& examples) const {
    std::vector<CaseRecording> all;
    for (const CaseExample& example : examples)
      all.push_back({program_.record_all(graph, std::vector<Value>{example.input}), &graph});
    return all;
  }
  /// The sum of all losses. With `strangers`, of instances of another model too, which count as nothing.
  Expr loss(Graph& graph, const std::vector<CaseRecording>& all, bool strangers) const {
    std::vector<Expr> losses;
    for (const CaseRecording& each : all) losses.push_back(each.loss());
    if (strangers) {
      const Value one = Value::list({1, 0.5});
      for (const Value& input : {Value::list({one, one, one}), Value::list({one, one, one, one, one})}) {
        graph.begin_instance();
        losses.push_back(asymmetric_sum(stranger_.record(graph, input).leaf()) * 0.0);
      }
    }
    return sum(losses);
  }

  /// Each example on a graph of its own, or all on one with strangers: expects the values, and gives the gradients.
  std::vector<Tensor> run(const CaseNet& net, const GraphOptions& options, bool together,
                          const std::string& way) const {
    Gradients gradients;
    const std::size_t group = together ? examples_.size() : 1;
    for (std::size_t first = 0; first < examples_.size(); first += group) {
      const std::vector<CaseExample> part(examples_.begin() + static_cast<std::ptrdiff_t>(first),
                                          examples_.begin() + static_cast<std::ptrdiff_t>(first + group));
      Graph graph(options);
      const std::vector<CaseRecording> all = record(graph, part);
      loss(graph, all, together).backward({.into = &gradients, .wanted = {}});
      for (std::size_t i = 0; i < part.size(); ++i) {
        EXPECT_EQ(all[i].recording.outputs[0].type(), program_.output_type()) << way;
        expect_equal_values(all[i].output(), part[i].expected, way);
        expect_equal_values(all[i].aside(), part[i].aside, way + ", put aside");
      }
    }
    std::vector<Tensor> result;
    for (const Parameter* parameter : net.model.parameters()) {
      const Gradient* gradient = gradients.find(*parameter);
      result.push_back(gradient != nullptr ? gradient->to_tensor() : Tensor(parameter->shape()));
    }
    return result;
  }

 private:
  std::vector<CaseExample> examples_;
  blocks::Program program_;
  blocks::Program stranger_;
};

/// `net` holds the parameters of the case, and is float64 afterwards.
inline void expect_case(CaseNet& net, const BlockCase& tried) {
  const CaseRun run(net, tried);
  EXPECT_EQ(run.program().block_input_type().to_text() + " -> " + run.program().output_type().to_text(), tried.type);
  EXPECT_GE(tried.examples.size(), 2U) << "unlike instances are wanted";

  const std::vector<Tensor> expected = run.run(net, {.execution = Execution::kPlain}, false, "by the twin");
  expect_near(run.run(net, {}, false, "alone"), expected, "alone");
  expect_near(run.run(net, {}, true, "among others"), expected, "among others");

  double largest = 0;
  for (const Tensor& gradient : expected)
    for (std::int64_t i = 0; i < gradient.elements(); ++i) largest = std::max(largest, std::abs(gradient.at(i)));
  EXPECT_GT(largest, 1e-3) << "no gradient comes through the block";

  std::vector<Value> inputs;
  for (const CaseExample& example : tried.examples) inputs.push_back(example.input);
  std::size_t next = 0;
  for (const blocks::Result& result : blocks::stream(run.program(), inputs))
    expect_equal_values(to_value(result), tried.examples[next++].expected, "of a stream");
  EXPECT_EQ(next, inputs.size());

  randomise(net.model);
  check_gradients(
      net.model, [&](Graph& graph) { return run.loss(graph, run.record(graph, tried.examples), true); }, 1e-6);
}

}  // namespace espalier::testing
