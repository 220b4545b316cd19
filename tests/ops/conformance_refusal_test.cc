/// Conformance of every op as it is recorded: shapes, and refusals to the letter, which leave the graph as it was.
#include <deque>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "tests/ops/conformance.h"

namespace espalier::conformance {
namespace {

const SourceLine kRecordedAt{__FILE__, 4711};
const SourceLine kMadeAt{__FILE__, 815};

/// An op's operands on a fresh graph: parameters where it shares them, else inputs.
struct Recording {
  Graph graph;
  std::deque<Parameter> parameters;
  std::vector<Operand> operands;
  std::vector<Expr> list;  // for ops that take any number

  Recording(const OpInfo& info, const std::vector<Shape>& shapes, DType dtype = DType::kFloat32,
            bool parameters_where_shared = true) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const bool shared = !info.takes_any_number() && info.inputs[i].role == Role::kShared && parameters_where_shared;
      if (shared) {
        operands.emplace_back(&parameters.emplace_back("some.table", Tensor(shapes[i], dtype)), kRecordedAt);
      } else {
        list.push_back(graph.input(Tensor(shapes[i], dtype), kMadeAt.file(), kMadeAt.line()));
        operands.emplace_back(list.back(), kRecordedAt);
      }
    }
  }

  Expr record(const OpInfo& info, const OpCall& call) {
    if (info.takes_any_number()) {
      const Operands all(list, kRecordedAt);
      return graph_of(info, all).record(info, call.attrs.data(), call.fields.data(), all);
    }
    return graph.record(info, call.attrs.data(), call.fields.data(), operands);
  }
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The message must name every operand that is shown, its type, where it was made, and where the op was recorded.
void check_message(const OpInfo& info, const std::vector<Shape>& shapes, const std::string& message) {
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < std::min(shapes.size(), kShown); ++i) {
    const std::string name = info.takes_any_number() ? std::string(info.inputs[0].name) + "[" + std::to_string(i) + "]"
                                                     : std::string(info.inputs[i].name);
    const std::size_t line = message.find("\n  " + name + ": ");
    ASSERT_NE(line, std::string::npos) << name << " is missing in\n" << message;
    const std::string text = message.substr(line, message.find('\n', line + 1) - line);
    EXPECT_NE(text.find("float32" + shapes[i].to_string()), std::string::npos) << text;
    const bool says_where = text.find("parameter \"some.table\"") != std::string::npos ||
                            text.find("= input()  " + kMadeAt.to_string()) != std::string::npos;
    EXPECT_TRUE(says_where) << text;
  }
  EXPECT_NE(message.find("\n  at " + kRecordedAt.to_string()), std::string::npos) << message;
}

class ConformanceRecorded : public OpTest {};

TEST_P(ConformanceRecorded, SamplesAreAcceptedWithTheShapeOfTheRule) {
  const Samples samples = info().samples();
  for (std::size_t s = 0; s < samples.size(); ++s)
    for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
      SCOPED_TRACE(sample_text(info(), samples, s, 0));
      Recording recording(info(), shapes_of(samples[s]), dtype);
      const Expr expr = recording.record(info(), samples[s].call);
      EXPECT_EQ(expr.shape(), infer(info(), samples[s]));
      EXPECT_EQ(expr.dtype(), dtype);
      const NodeId node = expr.node();
      EXPECT_EQ(recording.graph.signature(node).info, &info());
      EXPECT_EQ(recording.graph.inputs(node).size(), shapes_of(samples[s]).size());
      const OpCall& call = samples[s].call;
      EXPECT_TRUE(
          std::equal(call.attrs.begin(), call.attrs.end(), static_cast<const std::byte*>(recording.graph.attrs(node))));
      EXPECT_TRUE(std::equal(call.fields.begin(), call.fields.end(),
                             static_cast<const std::byte*>(recording.graph.fields(node))));
    }
}

TEST_P(ConformanceRecorded, RefusalsMatchToTheLetterAndLeaveTheGraphUnchanged) {
  const Refusals refusals = info().refusals();
  for (std::size_t i = 0; i < refusals.size(); ++i) {
    SCOPED_TRACE(std::string(info().name) + ", refusal " + std::to_string(i) + ": " + refusals[i].sentence);
    EXPECT_EQ(refusals[i].call.attrs.size(), static_cast<std::size_t>(info().attr_words) * 4);
    EXPECT_EQ(refusals[i].call.fields.size(), static_cast<std::size_t>(info().field_bytes));
    Recording recording(info(), refusals[i].shapes);
    const std::string before = recording.graph.explain();
    const std::int32_t size = recording.graph.size();
    try {
      recording.record(info(), refusals[i].call);
      ADD_FAILURE() << "was accepted";
    } catch (const UsageError& error) {
      EXPECT_EQ(first_line(error.what()), refusals[i].sentence);
      check_message(info(), refusals[i].shapes, error.what());
    }
    EXPECT_EQ(recording.graph.size(), size);
    EXPECT_EQ(recording.graph.explain(), before);
  }
}

TEST_P(ConformanceRecorded, SharedInputsMustBeParameters) {
  const OpSample sample = info().samples().front();
  for (const Input& input : info().inputs) {
    if (input.role != Role::kShared) continue;
    Recording recording(info(), shapes_of(sample), DType::kFloat32, false);
    try {
      recording.record(info(), sample.call);
      ADD_FAILURE() << "an input was accepted as " << input.name;
    } catch (const UsageError& error) {
      EXPECT_EQ(first_line(error.what()), std::string(info().name) + ": " + std::string(input.name) +
                                              " must be a parameter or computed from parameters only");
    }
    break;  // the first one is what is reported
  }
}

TEST_P(ConformanceRecorded, OperandsOfTwoElementTypesAreRefused) {
  for (const OpSample& sample : info().samples()) {
    const std::vector<Shape> shapes = shapes_of(sample);
    if (shapes.size() < 2 || info().inputs[0].role == Role::kShared) continue;
    Recording recording(info(), shapes);
    recording.list[0] = recording.graph.input(Tensor(shapes[0], DType::kFloat64));
    recording.operands[0] = Operand(recording.list[0], kRecordedAt);
    const std::int32_t size = recording.graph.size();
    EXPECT_THROW(recording.record(info(), sample.call), UsageError);
    EXPECT_EQ(recording.graph.size(), size);
    return;
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, ConformanceRecorded, ::testing::ValuesIn(computing_ops()), name_of_op);

}  // namespace
}  // namespace espalier::conformance
