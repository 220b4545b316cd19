/// The structure of the files, without ONNX Runtime: names are defined before they are used, once; weights have their
/// shapes; what is too large lies beside.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/data/proto_wire.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/onnx/messages.h"
#include "espalier/onnx/read_file.h"
#include "espalier/ops/all.h"
#include "tests/onnx/cases.h"

namespace espalier::onnx {
namespace {

using testing::refusal;

using testing::OnnxFolder;

/// The fields of a message, in order.
struct Message {
  std::vector<std::pair<std::uint32_t, std::string_view>> parts;  // texts and messages
  std::vector<std::pair<std::uint32_t, std::uint64_t>> numbers;

  explicit Message(std::string_view bytes) {
    const data::ProtoWire wire(bytes, "test");
    while (!bytes.empty()) {
      const data::ProtoTag tag = wire.take_tag(bytes);
      if (tag.type == data::WireType::kLengthDelimited)
        parts.emplace_back(tag.number, wire.take_delimited(bytes));
      else if (tag.type == data::WireType::kVarint)
        numbers.emplace_back(tag.number, wire.take_varint(bytes));
      else
        wire.skip(bytes, tag);
    }
  }
  std::vector<std::string_view> all(std::uint32_t number) const {
    std::vector<std::string_view> found;
    for (const auto& [field, part] : parts)
      if (field == number) found.push_back(part);
    return found;
  }
  std::string_view one(std::uint32_t number) const {
    const auto found = all(number);
    EXPECT_EQ(found.size(), 1U) << "field " << number;
    return found.empty() ? std::string_view() : found[0];
  }
  std::uint64_t number(std::uint32_t number) const {
    for (const auto& [field, value] : numbers)
      if (field == number) return value;
    ADD_FAILURE() << "no field " << number;
    return 0;
  }
};

const std::set<std::string_view> kOperations{
    "Add",  "Cast",   "Concat", "ConstantOfShape", "CumSum",    "Gather",  "Gemm",  "Identity",
    "Loop", "MatMul", "Mul",    "ReduceSum",       "Reshape",   "Sigmoid", "Slice", "Split",
    "Sub",  "Tanh",   "Div",    "Expand",          "ScatterND", "Shape"};

/// Checks a graph and what is in it; `outer` are names that are defined around it.
void check_graph(const Message& graph, std::set<std::string> known, int depth, int& loops) {
  std::set<std::string> own;
  const auto define = [&](std::string_view name) {
    EXPECT_TRUE(own.insert(std::string(name)).second && known.insert(std::string(name)).second)
        << name << " is defined twice";
  };
  for (const std::string_view tensor : graph.all(5)) define(Message(tensor).one(8));
  for (const std::string_view input : graph.all(11)) define(Message(input).one(1));
  for (const std::string_view bytes : graph.all(1)) {
    const Message node(bytes);
    for (const std::string_view input : node.all(1))
      EXPECT_TRUE(input.empty() || known.count(std::string(input)) == 1) << input << " is not defined";
    EXPECT_EQ(kOperations.count(node.one(4)), 1U) << node.one(4);
    if (node.one(4) == "Loop") {
      ++loops;
      check_graph(Message(Message(node.one(5)).one(6)), known, depth + 1, loops);
    }
    for (const std::string_view output : node.all(2)) define(output);
  }
  for (const std::string_view output : graph.all(12))
    EXPECT_EQ(known.count(std::string(Message(output).one(1))), 1U) << Message(output).one(1);
}

class OnnxStructure : public ::testing::Test {
 protected:
  OnnxStructure() {
    Graph graph({.training = false});
    const nn::LstmCell lstm{model_ / "lstm", 3, 4};
    const Expr h = row(lstm.rows(graph.rows({3}, std::vector<float>(9, 0.5F))).h, 2);
    write(folder_ / "model.onnx", {"state", "mean"}, std::vector<Instance>{{h, mean({h, tanh(h)})}}, {{{"who", "me"}}});
    write(folder_ / "outside.onnx", {"state"}, std::vector<Instance>{{h}},
          {.metadata = {}, .also = {}, .most_inside = 10});
  }
  std::filesystem::path file(const std::string& name) const { return folder_ / name; }

  OnnxFolder folder_;
  Model model_{3};
};

TEST_F(OnnxStructure, IsOneLoopWhoseNamesAreDefinedOnceBeforeTheyAreUsed) {
  const std::string bytes = read_file(file("model.onnx"));
  const Message model(bytes);
  EXPECT_EQ(model.number(1), 8U);                   // the version of the format
  EXPECT_EQ(Message(model.one(8)).number(2), 18U);  // the version of the operations
  const Message graph(model.one(7));
  int loops = 0;
  check_graph(graph, {}, 0, loops);
  EXPECT_EQ(loops, 1);
  std::vector<std::string_view> names;
  for (const std::string_view input : graph.all(11)) names.push_back(Message(input).one(1));
  EXPECT_EQ(names,
            (std::vector<std::string_view>{"lengths", "schedule", "rows.3", "rows.4", "state.rows", "mean.rows"}));
  names.clear();
  for (const std::string_view output : graph.all(12)) names.push_back(Message(output).one(1));
  EXPECT_EQ(names, (std::vector<std::string_view>{"state", "mean"}));
}

TEST_F(OnnxStructure, HasTheWeightsAndTheMetadata) {
  const FileContents contents = onnx::read(file("model.onnx"));
  EXPECT_EQ(contents.metadata.at("who"), "me");
  EXPECT_EQ(Weaver(file("model.onnx")).metadata("who"), "me");
  EXPECT_EQ(Weaver(file("model.onnx")).metadata("nobody"), "");
  for (const Parameter* parameter : model_.parameters())
    EXPECT_EQ(contents.weights.at("weight." + parameter->name()), parameter->value()) << parameter->name();
}

TEST_F(OnnxStructure, PutsWeightsBesideTheFileIfTheyAreTooLarge) {
  ASSERT_TRUE(std::filesystem::exists(file("outside.onnx.data")));
  const FileContents contents = onnx::read(file("outside.onnx"));
  std::uintmax_t bytes = 0;
  for (const Parameter* parameter : model_.parameters()) {
    EXPECT_EQ(contents.weights.at("weight." + parameter->name()), parameter->value()) << parameter->name();
    bytes += parameter->value().bytes();
  }
  EXPECT_EQ(std::filesystem::file_size(file("outside.onnx.data")), bytes);
  EXPECT_FALSE(std::filesystem::exists(file("model.onnx.data")));
}

TEST_F(OnnxStructure, OnnxRuntimeReadsWeightsBesideTheFile) {
  Graph graph({.training = false});
  const nn::Linear linear{model_ / "linear", 2, 3};
  const Expr y = linear(graph.input({2}, {1, 2}));
  testing::write_case(folder_ / "case", {"y"}, {{y}}, {{y}}, {.metadata = {}, .also = {}, .most_inside = 0});
  for (const char* name : {"model.onnx", "outside.onnx"}) std::filesystem::remove(file(name));
  testing::expect_runtime_agrees(folder_, 1);
}

TEST_F(OnnxStructure, RefusesOtherFiles) {
  write_file_atomically(file("other"), "no model");
  EXPECT_THROW(Weaver(file("other")), DataError);
  write_file_atomically(file("empty"), "");
  EXPECT_EQ(refusal([&] { Weaver(file("empty")); }),
            file("empty").string() + ": it was not written by Espalier: its metadata have no \"espalier.schedule\"");
  EXPECT_THROW(Weaver(file("nowhere")), ResourceError);
}

/// Cut off or changed anywhere, a file is refused or read: nothing else happens.
TEST_F(OnnxStructure, DamagedFilesAreRefusedOrRead) {
  const std::string whole = read_file(file("model.onnx"));
  int refused = 0;
  const auto parse_it = [&](const std::string& bytes) {
    try {
      static_cast<void>(parse(bytes, file("model.onnx")));
    } catch (const Error&) {
      ++refused;
    }
  };
  for (std::size_t size = 0; size < whole.size(); size += 61) parse_it(whole.substr(0, size));
  EXPECT_GT(refused, 50);
  for (std::size_t i = 0; i < whole.size(); i += 23) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    parse_it(damaged);
  }
}

TEST_F(OnnxStructure, RefusesOutputsThatCannotBe) {
  Graph graph({.training = false});
  const Expr two = graph.input({2}, {1, 2});
  const Expr three = graph.input({3}, {1, 2, 3});
  const auto writes = [&](const std::vector<std::string>& names, const std::vector<Instance>& samples) {
    return refusal([&] { write(file("new.onnx"), names, samples); });
  };
  EXPECT_EQ(writes({}, {{two}}), "onnx: a file needs at least one output");
  EXPECT_EQ(writes({"y"}, {}), "onnx: a file is written from sample instances, and there are none");
  EXPECT_EQ(writes({"y", "y"}, {{two, two}}), "onnx: two outputs are called \"y\"");
  EXPECT_EQ(writes({"schedule"}, {{two}}), "onnx: an output cannot be called \"schedule\"");
  EXPECT_EQ(writes({"y"}, {{two, two}}), "onnx: sample 0 has 2 outputs, and there are 1 names");
  EXPECT_EQ(writes({"y"}, {{two}, {three}}), "onnx: output \"y\" has shape [2] in sample 0 and [3] in sample 1");
  EXPECT_EQ(writes({"y"}, {{graph.input(Tensor({2}, DType::kFloat64))}}).substr(0, 60),
            "onnx: node 2 = input() cannot be exported: it is float64[2],");
}

}  // namespace
}  // namespace espalier::onnx
