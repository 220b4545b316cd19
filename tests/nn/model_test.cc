/// Named parameters: adding, finding, freezing, converting, saving and loading.
#include "espalier/nn/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "tests/support/refusal.h"

namespace espalier {
namespace {

using espalier::testing::refusal_of;

namespace fs = std::filesystem;

TEST(Model, ScopesMakeNestedNames) {
  Model model;
  const Scope cell = model / "encoder" / "cell";
  Parameter& weight = cell.add("W", {2, 3}, init::zeros());
  EXPECT_EQ(weight.name(), "encoder.cell.W");
  EXPECT_EQ(weight.shape(), (Shape{2, 3}));
  EXPECT_EQ(weight.gradients, &model.gradients());
  EXPECT_EQ(&model.parameter("encoder.cell.W"), &weight);
  EXPECT_EQ(cell.prefix(), "encoder.cell");
  EXPECT_EQ(&cell.model(), &model);
}

TEST(Model, AScopeWithoutNameAddsNoDot) {
  Model model;
  EXPECT_EQ(Scope(model, "").add("W", {1}, init::zeros()).name(), "W");
  EXPECT_EQ((Scope(model, "") / "a").add("W", {1}, init::zeros()).name(), "a.W");
}

TEST(Model, ListsParametersInTheOrderTheyWereAddedAndCountsNumbers) {
  Model model;
  EXPECT_EQ(model.count(), 0);
  Parameter& z = model.add("z", {2, 3}, init::zeros());
  Parameter& a = model.add("a", {}, init::zeros());
  EXPECT_THAT(model.parameters(), ::testing::ElementsAre(&z, &a));
  EXPECT_EQ(model.count(), 7);
  EXPECT_EQ(model.find("b"), nullptr);
}

TEST(Model, ValuesDependOnSeedAndNameOnly) {
  Model one(5);
  Model two(5);
  Model three(6);
  two.add("before", {4}, init::normal(0, 1));
  const Tensor value = one.add("W", {4}, init::normal(0, 1)).value();
  EXPECT_EQ(two.add("W", {4}, init::normal(0, 1)).value(), value);
  EXPECT_FALSE(two.add("V", {4}, init::normal(0, 1)).value() == value);
  EXPECT_FALSE(three.add("W", {4}, init::normal(0, 1)).value() == value);
}

TEST(Model, RefusesNamesThatAreTakenOrReservedAndStaysAsItWas) {
  Model model;
  model.add("cell.W", {2, 3}, init::zeros());
  EXPECT_EQ(refusal_of([&] { (model / "cell").add("W", {1}, init::zeros()); }),
            "model: the name \"cell.W\" is taken by a parameter of shape [2, 3]");
  EXPECT_EQ(refusal_of([&] { model.add("", {1}, init::zeros()); }), "model: a parameter needs a name");
  EXPECT_EQ(refusal_of([&] { model.add("__metadata__", {1}, init::zeros()); }),
            "model: the name \"__metadata__\" has a meaning of its own in weights files");
  EXPECT_EQ(refusal_of([&] { model.add("V", {1}, {}); }), "model: parameter \"V\" has no initializer");
  EXPECT_EQ(refusal_of([&] { model.add("V", {1}, [](Tensor& value, Random&) { value = Tensor(Shape{2}); }); }),
            "model: parameter \"V\" has shape [1], and its initializer made [2]");
  EXPECT_EQ(model.parameters().size(), 1U);
  EXPECT_EQ(model.find("V"), nullptr);
}

TEST(Model, NamesTheClosestParametersWhenOneIsNotThere) {
  Model model;
  EXPECT_EQ(refusal_of([&] { model.parameter("W"); }), "model: no parameter \"W\"; the model has no parameters");
  for (const char* name : {"words.table", "cell.W", "cell.U", "classify.b", "cell.b"})
    model.add(name, {1}, init::zeros());
  EXPECT_EQ(refusal_of([&] { model.parameter("cell.w"); }),
            "model: no parameter \"cell.w\"; the closest of 5 names: \"cell.U\", \"cell.W\", \"cell.b\"");
}

TEST(Model, FreezesAndScalesByWholePartsOfNames) {
  Model model;
  Parameter& inside = model.add("cell.W", {1}, init::zeros());
  Parameter& beside = model.add("cells.W", {1}, init::zeros());
  Parameter& exact = model.add("cell", {1}, init::zeros());
  model.freeze("cell");
  EXPECT_TRUE(inside.frozen);
  EXPECT_TRUE(exact.frozen);
  EXPECT_FALSE(beside.frozen);
  model.freeze("cell.W", false);
  EXPECT_FALSE(inside.frozen);
  model.freeze("");
  EXPECT_TRUE(beside.frozen);
  model.set_learning_rate_scale("cell", 0.5);
  EXPECT_EQ(inside.learning_rate_scale, 0.5);
  EXPECT_EQ(beside.learning_rate_scale, 1);
  EXPECT_EQ(refusal_of([&] { model.freeze("cel"); }),
            "model: no parameter is or lies under \"cel\"; the closest of 3 names: \"cell\", \"cell.W\", \"cells.W\"");
  EXPECT_EQ(refusal_of([&] { model.set_learning_rate_scale("cell", -1); }),
            "model: the scale of a learning rate must be 0 or more and finite, not -1");
}

TEST(Model, ConvertsAllParametersAndThoseAddedLater) {
  Model model;
  Parameter& weight = model.add("W", {2}, init::constant(0.1));
  model.gradients().dense(weight);
  const std::uint64_t version = weight.version();
  model.to(DType::kFloat64);
  EXPECT_EQ(weight.value().dtype(), DType::kFloat64);
  EXPECT_EQ(weight.value().at(0), static_cast<double>(0.1F));
  EXPECT_NE(weight.version(), version);
  EXPECT_TRUE(model.gradients().empty());
  EXPECT_EQ(model.dtype(), DType::kFloat64);
  EXPECT_EQ(model.add("V", {2}, init::from_tensor(Tensor::filled({2}, 0.1, DType::kFloat64))).value().at(0), 0.1);
  model.to(DType::kFloat32);
  EXPECT_EQ(model.parameter("V").value(), Tensor::filled({2}, 0.1));
  EXPECT_EQ(refusal_of([&] { model.to(DType::kInt32); }), "model: parameters are float32 or float64, not int32");
}

class ModelFiles : public ::testing::Test {
 protected:
  ModelFiles() {
    std::string pattern = (fs::path(::testing::TempDir()) / "espalier_model_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = (folder_ / "weights.safetensors").string();
  }
  ~ModelFiles() override { fs::remove_all(folder_); }

  static void add_two(Model& model) {
    model.add("cell.W", {3, 4}, init::normal(0, 1));
    model.add("cell.b", {4}, init::normal(0, 1));
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(ModelFiles, AreLoadedToTheSameBits) {
  Model model(1);
  add_two(model);
  model.save(path_, {{"hidden", "4"}});
  Model other(2);
  add_two(other);
  ASSERT_FALSE(other.parameter("cell.W").value() == model.parameter("cell.W").value());
  const std::uint64_t version = other.parameter("cell.W").version();
  const std::byte* address = other.parameter("cell.W").value().data();
  other.load(path_);
  EXPECT_EQ(other.parameter("cell.W").value(), model.parameter("cell.W").value());
  EXPECT_EQ(other.parameter("cell.b").value(), model.parameter("cell.b").value());
  EXPECT_NE(other.parameter("cell.W").version(), version);
  EXPECT_EQ(other.parameter("cell.W").value().data(), address);
  EXPECT_EQ(SafetensorsReader(path_).metadata().at("hidden"), "4");
}

TEST_F(ModelFiles, ConvertElementTypes) {
  Model model(1);
  add_two(model);
  model.to(DType::kFloat64);
  model.save(path_);
  EXPECT_EQ(SafetensorsReader(path_).dtype("cell.W"), DType::kFloat64);
  Model other(2);
  add_two(other);
  other.load(path_);
  EXPECT_EQ(other.parameter("cell.W").value(), model.parameter("cell.W").value().to(DType::kFloat32));
}

TEST_F(ModelFiles, ThatDoNotFitAreRefusedAndNothingChanges) {
  Model model(1);
  add_two(model);
  model.save(path_);

  const auto expect_refused = [&](Model& other, const std::string& text) {
    const Tensor before = other.parameter("cell.W").value();
    EXPECT_EQ(refusal_of([&] { other.load(path_); }), path_ + text);
    EXPECT_EQ(other.parameter("cell.W").value(), before);
  };
  Model more(2);
  add_two(more);
  more.add("head.W", {1}, init::zeros());
  expect_refused(more, ": no tensor \"head.W\" among the 2 of the file");

  Model shape(2);
  shape.add("cell.W", {3, 4}, init::normal(0, 1));
  shape.add("cell.b", {5}, init::zeros());
  expect_refused(shape, ": tensor \"cell.b\" has shape [4], and the parameter [5]");

  Model fewer(2);
  fewer.add("cell.W", {3, 4}, init::normal(0, 1));
  expect_refused(fewer, ": tensor \"cell.b\" belongs to no parameter; the closest names: \"cell.W\"");
  fewer.load(path_, true);
  EXPECT_EQ(fewer.parameter("cell.W").value(), model.parameter("cell.W").value());
}

TEST_F(ModelFiles, ThatCannotBeReadOrWrittenAreNamed) {
  Model model;
  add_two(model);
  EXPECT_THROW(model.load(path_), ResourceError);
  EXPECT_THROW(model.save((folder_ / "missing" / "weights").string()), ResourceError);
  EXPECT_THROW(model.load(folder_.string()), ResourceError);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace espalier
