// The layers of espalier.nn: those of vectors and tables here, the others in the files layers_*.cc.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/espalier.h"
#include "layers.h"
#include "model.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

constexpr const char* kUnary = "def __call__(self, x: Operand, /) -> Expr";

// A layer of one vector, called as layer(x).
template <class Layer>
nb::object call_unary(const Layer& self, nb::handle x) {
  return apply_layer("layer", x, [&](Operand o) { return self(o); });
}

nn::Activation activation_named(std::string_view name) {
  using enum nn::Activation;
  constexpr std::pair<std::string_view, nn::Activation> kNames[] = {
      {"tanh", kTanh}, {"sigmoid", kSigmoid},   {"relu", kRelu}, {"leaky_relu", kLeakyRelu}, {"elu", kElu},
      {"gelu", kGelu}, {"softplus", kSoftplus}, {"silu", kSilu}, {"relu6", kRelu6},          {"none", kNone}};
  std::string all;
  for (const auto& [known, activation] : kNames) {
    if (name == known) return activation;
    all += (all.empty() ? "" : ", ") + std::string(known);
  }
  throw UsageError("activation \"" + std::string(name) + "\" is unknown; there are " + all);
}

void bind_plain_layers(nb::module_& module) {
  nb::class_<nn::Linear>(module, "Linear",
                         "y = x W + b. Parameters: W [input, output]; b [output], unless without bias.")
      .def(
          "__init__",
          [](nn::Linear* self, const ScopeObject& scope, std::int32_t input, std::int32_t output, bool bias,
             nb::handle init) {
            new (self) nn::Linear(scope.scope, input, output, {bias, initializer_of(init, init::glorot())});
          },
          "scope"_a, "input"_a, "output"_a, nb::kw_only(), "bias"_a = true, "init"_a.none() = nb::none(), KeepScope())
      .def("__call__", &call_unary<nn::Linear>, nb::sig(kUnary));

  nb::class_<nn::LayerNorm>(module, "LayerNorm",
                            "Shifts and scales a vector to mean 0 and variance 1; then gain and bias.")
      .def(
          "__init__",
          [](nn::LayerNorm* self, const ScopeObject& scope, std::int32_t size, float epsilon) {
            new (self) nn::LayerNorm(scope.scope, size, {epsilon});
          },
          "scope"_a, "size"_a, nb::kw_only(), "epsilon"_a = 1e-5F, KeepScope())
      .def("__call__", &call_unary<nn::LayerNorm>, nb::sig(kUnary));

  nb::class_<nn::Dropout>(module, "Dropout", "Sets elements to zero at random while training.")
      .def(nb::init<double>(), "rate"_a)
      .def("__call__", &call_unary<nn::Dropout>, nb::sig(kUnary));

  nb::class_<nn::Mlp>(module, "Mlp", "Linear layers with an activation between them. Parameters: 0.W, 0.b, 1.W, ...")
      .def(
          "__init__",
          [](nn::Mlp* self, const ScopeObject& scope, const std::vector<std::int32_t>& sizes,
             std::string_view activation, bool activate_last, double dropout, nb::handle init) {
            new (self)
                nn::Mlp(scope.scope, sizes,
                        {activation_named(activation), activate_last, dropout, initializer_of(init, init::glorot())});
          },
          "scope"_a, "sizes"_a, nb::kw_only(), "activation"_a = "relu", "activate_last"_a = false, "dropout"_a = 0.0,
          "init"_a.none() = nb::none(), KeepScope())
      .def("__call__", &call_unary<nn::Mlp>, nb::sig(kUnary));

  nb::class_<nn::FC>(
      module, "FC",
      "A fully connected layer: dropout(activation(norm(dropout(x) W) + b)).\n\n"
      "Parameters: W [input, output], or V and g with weight norm; b; those of LayerNorm under \"norm\".")
      .def(
          "__init__",
          [](nn::FC* self, const ScopeObject& scope, std::int32_t input, std::int32_t output,
             std::string_view activation, nb::handle init, bool bias, double input_dropout, double output_dropout,
             bool layer_norm, bool weight_norm) {
            new (self) nn::FC(scope.scope, input, output,
                              {activation_named(activation), initializer_of(init, {}), bias, input_dropout,
                               output_dropout, layer_norm, weight_norm});
          },
          "scope"_a, "input"_a, "output"_a, nb::kw_only(), "activation"_a = "relu", "init"_a.none() = nb::none(),
          "bias"_a = true, "input_dropout"_a = 0.0, "output_dropout"_a = 0.0, "layer_norm"_a = false,
          "weight_norm"_a = false, KeepScope())
      .def("__call__", &call_unary<nn::FC>, nb::sig(kUnary));
}

nb::object embed(const nn::Embedding& self, nb::handle id) {
  Call call("embedding");
  Graph& graph = call.open();
  return call.wrap(self(graph, nb::cast<std::int64_t>(id), call.where().file(), call.where().line()));
}

nb::object embed_rows(const nn::Embedding& self, nb::handle ids) {
  Call call("embedding");
  Graph& graph = call.open();
  return call.wrap(self.rows(graph, integers_of(ids), call.where().file(), call.where().line()));
}

void bind_embedding(nb::module_& module) {
  nb::class_<nn::Embedding>(module, "Embedding",
                            "A table of vectors, one per word, symbol or category. Parameters: table [size, dim].")
      .def(
          "__init__",
          [](nn::Embedding* self, const ScopeObject& scope, std::int32_t size, std::int32_t dim, nb::handle init,
             nb::handle pretrained, bool frozen, bool modulo) {
            nn::EmbeddingOptions options{initializer_of(init, {}), std::nullopt, frozen, modulo};
            if (!pretrained.is_none()) options.pretrained = tensor_of(pretrained, DType::kFloat32);
            new (self) nn::Embedding(scope.scope, size, dim, options);
          },
          "scope"_a, "size"_a, "dim"_a, nb::kw_only(), "init"_a.none() = nb::none(), "pretrained"_a.none() = nb::none(),
          "frozen"_a = false, "modulo"_a = false, KeepScope(),
          "pretrained: [n, dim], the first n rows of the table. frozen: training does not change it. modulo: any id "
          "is\n"
          "accepted, and its absolute value modulo the size of the table is looked up.")
      .def("__call__", &embed, "id"_a, nb::sig("def __call__(self, id: int) -> Expr"),
           "The vector of one id, in the current graph.")
      .def("rows", &embed_rows, "ids"_a,
           nb::sig("def rows(self, ids: collections.abc.Sequence[int] | numpy.typing.NDArray) -> Expr"),
           "The vectors of several ids, as one node with a row per id.")
      .def_prop_ro("size", &nn::Embedding::size, "How many vectors the table has.")
      .def_prop_ro("dim", &nn::Embedding::dim, "The size of a vector.");
}

}  // namespace

void bind_nn(nb::module_& module) {
  nb::module_ nn = module.def_submodule("layers", "Layers: they make their parameters in a scope of a model.");
  bind_plain_layers(nn);
  bind_embedding(nn);
  bind_tree_layers(nn);
  bind_sequence_layers(nn);
}

}  // namespace espalier::python
