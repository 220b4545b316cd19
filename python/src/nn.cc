// The layers of espalier.nn.
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
#include "model.h"
#include "objects.h"
#include "recursion.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

using nn::TreeState;
using KeepScope = nb::keep_alive<1, 2>;
constexpr const char* kUnary = "def __call__(self, x: Operand, /) -> Expr";

template <class F>
nb::object apply(std::string_view name, nb::handle x, F f) {
  Call call(name);
  return call.wrap(f(call.operand(x)));
}

// A layer of one vector, called as layer(x).
template <class Layer>
nb::object call_unary(const Layer& self, nb::handle x) {
  return apply("layer", x, [&](Operand o) { return self(o); });
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

// A child of a tree cell: a State, or None for one that is missing.
TreeState child_of(Call& call, nb::handle child) {
  if (is_state(child)) {
    call.look_at(child);
    return state_of(child).state;
  }
  if (child.is_none()) return {};
  throw UsageError("a tree cell takes States, and None for a missing child\n  at " + call.where().to_string());
}

std::vector<TreeState> children_of(Call& call, nb::handle children) {
  std::vector<TreeState> list;
  for (const nb::handle child : nb::iter(children)) list.push_back(child_of(call, child));
  return list;
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

template <class Layer>
nb::object leaf_of(const Layer& self, nb::handle x) {
  return apply("leaf", x, [&](Operand o) { return self.leaf(o); });
}
template <class Layer>
nb::object rows_of(const Layer& self, nb::handle x, nb::handle tree) {
  const Structure structure = structure_of(tree);
  return apply("rows", x, [&](Operand o) { return self.rows(o, structure); });
}

constexpr const char* kRows = "def rows(self, x: Expr, tree: Structure | numpy.typing.ArrayLike) -> State";
constexpr const char* kRowsDoc = "The states of all nodes of a tree that is given as data, as one node.";
constexpr const char* kLeaf = "def leaf(self, x: Operand) -> State";

template <class Layer>
void make_tree_lstm(Layer* self, const ScopeObject& scope, std::int32_t input, std::int32_t hidden,
                    std::int32_t node_input, nb::handle init, double forget_bias) {
  new (self) Layer(scope.scope, input, hidden, {node_input, initializer_of(init, init::glorot()), forget_bias});
}

void bind_binary_tree_lstm(nb::module_& module) {
  using nn::BinaryTreeLstm;
  nb::class_<BinaryTreeLstm>(
      module, "BinaryTreeLstm",
      "The binary Tree-LSTM of Tai, Socher and Manning (2015).\n\n"
      "``cell.leaf(x)``, ``cell(left, right)`` and, if nodes have inputs, ``cell(x, left, right)``\n"
      "give States; None is a missing child.")
      .def("__init__", &make_tree_lstm<BinaryTreeLstm>, "scope"_a, "input"_a, "hidden"_a, nb::kw_only(),
           "node_input"_a = 0, "init"_a.none() = nb::none(), "forget_bias"_a = 1.0, KeepScope())
      .def("leaf", &leaf_of<BinaryTreeLstm>, "x"_a, nb::sig(kLeaf), "The state of a leaf.")
      .def(
          "__call__",
          [](const BinaryTreeLstm& self, nb::handle left, nb::handle right) {
            Call call("tree_lstm");
            const TreeState l = child_of(call, left);
            const TreeState r = child_of(call, right);
            return call.wrap(self(l, r, call.where().file(), call.where().line()));
          },
          "left"_a.none(), "right"_a.none(),
          nb::sig("def __call__(self, left: State | None, right: State | None) -> State"))
      .def(
          "__call__",
          [](const BinaryTreeLstm& self, nb::handle x, nb::handle left, nb::handle right) {
            Call call("tree_lstm");
            const Operand operand = call.operand(x);
            const TreeState l = child_of(call, left);
            return call.wrap(self(operand, l, child_of(call, right)));
          },
          "x"_a, "left"_a.none(), "right"_a.none(),
          nb::sig("def __call__(self, x: Operand, left: State | None, right: State | None) -> State"))
      .def("rows", &rows_of<BinaryTreeLstm>, "x"_a, "tree"_a, nb::sig(kRows), kRowsDoc)
      .def_prop_ro("hidden", &BinaryTreeLstm::hidden, "The size of h.");
}

// cell(children) and cell(x, children).
template <class Layer>
void def_children(nb::class_<Layer>& type) {
  type.def(
      "__call__",
      [](const Layer& self, nb::handle children) {
        Call call("tree_lstm");
        const std::vector<TreeState> list = children_of(call, children);
        return call.wrap(self(nn::Children(list, call.where())));
      },
      "children"_a, nb::sig("def __call__(self, children: collections.abc.Sequence[State | None]) -> State"));
  type.def(
      "__call__",
      [](const Layer& self, nb::handle x, nb::handle children) {
        Call call("tree_lstm");
        const Operand operand = call.operand(x);
        const std::vector<TreeState> list = children_of(call, children);
        return call.wrap(self(operand, nn::Children(list, call.where())));
      },
      "x"_a, "children"_a,
      nb::sig("def __call__(self, x: Operand, children: collections.abc.Sequence[State | None]) -> State"));
}

void bind_other_tree_lstms(nb::module_& module) {
  using nn::ChildSumTreeLstm;
  using nn::NaryTreeLstm;
  nb::class_<NaryTreeLstm> nary(module, "NaryTreeLstm",
                                "The N-ary Tree-LSTM of Tai, Socher and Manning (2015): at most N children, in order.");
  nary.def(
      "__init__",
      [](NaryTreeLstm* self, const ScopeObject& scope, std::int32_t input, std::int32_t hidden, std::int32_t children,
         std::int32_t node_input, nb::handle init, double forget_bias) {
        new (self) NaryTreeLstm(scope.scope, input, hidden, children,
                                {node_input, initializer_of(init, init::glorot()), forget_bias});
      },
      "scope"_a, "input"_a, "hidden"_a, "children"_a, nb::kw_only(), "node_input"_a = 0, "init"_a.none() = nb::none(),
      "forget_bias"_a = 1.0, KeepScope());
  nary.def("leaf", &leaf_of<NaryTreeLstm>, "x"_a, nb::sig(kLeaf), "The state of a leaf.");
  def_children(nary);
  nary.def("rows", &rows_of<NaryTreeLstm>, "x"_a, "tree"_a, nb::sig(kRows), kRowsDoc);
  nary.def_prop_ro("hidden", &NaryTreeLstm::hidden, "The size of h.");

  nb::class_<ChildSumTreeLstm> child_sum(
      module, "ChildSumTreeLstm",
      "The Child-Sum Tree-LSTM of Tai, Socher and Manning (2015): any number of children, in no order.\n\n"
      "Kinds of rows: 0 reads a row of x, 1 does not; both have any number of children.");
  child_sum.def(
      "__init__",
      [](ChildSumTreeLstm* self, const ScopeObject& scope, std::int32_t input, std::int32_t hidden, nb::handle init,
         double forget_bias) {
        new (self) ChildSumTreeLstm(scope.scope, input, hidden, {initializer_of(init, init::glorot()), forget_bias});
      },
      "scope"_a, "input"_a, "hidden"_a, nb::kw_only(), "init"_a.none() = nb::none(), "forget_bias"_a = 1.0,
      KeepScope());
  child_sum.def("leaf", &leaf_of<ChildSumTreeLstm>, "x"_a, nb::sig(kLeaf), "A node without children.");
  def_children(child_sum);
  child_sum.def("rows", &rows_of<ChildSumTreeLstm>, "x"_a, "tree"_a, nb::sig(kRows), kRowsDoc);
  child_sum.def_prop_ro("hidden", &ChildSumTreeLstm::hidden, "The size of h.");
}

void bind_tree_gru(nb::module_& module) {
  using nn::TreeGru;
  nb::class_<TreeGru>(module, "TreeGru", "A gated unit per child, and the mean of their results.")
      .def(
          "__init__",
          [](TreeGru* self, const ScopeObject& scope, std::int32_t hidden, std::int32_t children, nb::handle init) {
            new (self) TreeGru(scope.scope, hidden, {children, initializer_of(init, init::glorot())});
          },
          "scope"_a, "hidden"_a, nb::kw_only(), "children"_a = 2, "init"_a.none() = nb::none(), KeepScope())
      .def("leaf", &leaf_of<TreeGru>, "x"_a, nb::sig("def leaf(self, x: Operand) -> Expr"), "The state of a leaf.")
      .def(
          "__call__",
          [](const TreeGru& self, const nb::args& children) {
            Call call("tree_gru");
            const ExprList list =
                expr_list(call, children.size() == 1 && !is_expr(children[0]) ? children[0] : nb::handle(children));
            return call.wrap(self(Operands(std::span<const Expr>(list.data(), list.size()), call.where())));
          },
          nb::sig("def __call__(self, *children: Expr) -> Expr"))
      .def("rows", &rows_of<TreeGru>, "x"_a, "tree"_a,
           nb::sig("def rows(self, x: Expr, tree: Structure | numpy.typing.ArrayLike) -> Expr"), kRowsDoc)
      .def_prop_ro("hidden", &TreeGru::hidden, "The size of h.");
}

void bind_lstm(nb::module_& module) {
  using nn::BiLstm;
  using nn::LstmCell;
  nb::class_<LstmCell>(module, "LstmCell",
                       "Long short-term memory. ``cell.initial()`` is a state of zeros, ``cell(x, state)`` the next.")
      .def(
          "__init__",
          [](LstmCell* self, const ScopeObject& scope, std::int32_t input, std::int32_t hidden, nb::handle init,
             double forget_bias) {
            new (self) LstmCell(scope.scope, input, hidden, {initializer_of(init, init::glorot()), forget_bias});
          },
          "scope"_a, "input"_a, "hidden"_a, nb::kw_only(), "init"_a.none() = nb::none(), "forget_bias"_a = 1.0,
          KeepScope())
      .def(
          "initial",
          [](const LstmCell& self) {
            Call call("lstm");
            Graph& graph = call.open();
            return call.wrap(self.initial(graph, call.where().file(), call.where().line()));
          },
          nb::sig("def initial(self) -> State"), "A state of zeros, in the current graph.")
      .def(
          "__call__",
          [](const LstmCell& self, nb::handle x, nb::handle state) {
            Call call("lstm");
            call.look_at(state);
            const Operand operand = call.operand(x);
            return call.wrap(self(operand, child_of(call, state)));
          },
          "x"_a, "state"_a, nb::sig("def __call__(self, x: Operand, state: State) -> State"))
      .def(
          "rows",
          [](const LstmCell& self, nb::handle x, bool from_end) {
            return apply("lstm", x, [&](Operand o) { return self.rows(o, from_end); });
          },
          "x"_a, "from_end"_a = false, nb::sig("def rows(self, x: Expr, from_end: bool = False) -> State"),
          "Runs over the rows of x as a sequence, and gives the state after each element: one node.")
      .def_prop_ro("hidden", &LstmCell::hidden, "The size of h.");

  nb::class_<BiLstm>(module, "BiLstm", "An LSTM in each direction over a sequence. Parameters: forward.*, backward.*.")
      .def(
          "__init__",
          [](BiLstm* self, const ScopeObject& scope, std::int32_t input, std::int32_t hidden, nb::handle init,
             double forget_bias) {
            new (self) BiLstm(scope.scope, input, hidden, {initializer_of(init, init::glorot()), forget_bias});
          },
          "scope"_a, "input"_a, "hidden"_a, nb::kw_only(), "init"_a.none() = nb::none(), "forget_bias"_a = 1.0,
          KeepScope())
      .def(
          "__call__",
          [](const BiLstm& self, nb::handle sequence) {
            Call call("bi_lstm");
            const ExprList list = expr_list(call, sequence);
            nb::list results;
            for (const Expr& result : self(Operands(std::span<const Expr>(list.data(), list.size()), call.where())))
              results.append(call.wrap(result));
            return results;
          },
          "sequence"_a, nb::sig("def __call__(self, sequence: collections.abc.Sequence[Operand]) -> list[Expr]"),
          "A vector of [2 hidden] per element.")
      .def(
          "rows",
          [](const BiLstm& self, nb::handle x) { return apply("bi_lstm", x, [&](Operand o) { return self.rows(o); }); },
          "x"_a, nb::sig("def rows(self, x: Expr) -> Expr"), "The same over the rows of x, as one node.");
}

void bind_gru(nb::module_& module) {
  using nn::GruCell;
  nb::class_<GruCell>(module, "GruCell", "Gated recurrent unit, whose reset gate acts after the product.")
      .def(
          "__init__",
          [](GruCell* self, const ScopeObject& scope, std::int32_t input, std::int32_t hidden, nb::handle init) {
            new (self) GruCell(scope.scope, input, hidden, {initializer_of(init, init::glorot())});
          },
          "scope"_a, "input"_a, "hidden"_a, nb::kw_only(), "init"_a.none() = nb::none(), KeepScope())
      .def(
          "initial",
          [](const GruCell& self) {
            Call call("gru");
            Graph& graph = call.open();
            return call.wrap(self.initial(graph, call.where().file(), call.where().line()));
          },
          nb::sig("def initial(self) -> Expr"), "A state of zeros, in the current graph.")
      .def(
          "__call__",
          [](const GruCell& self, nb::handle x, nb::handle h) {
            Call call("gru");
            call.look_at(h);
            const Operand operand = call.operand(x);
            return call.wrap(self(operand, call.operand(h)));
          },
          "x"_a, "h"_a, nb::sig("def __call__(self, x: Operand, h: Expr) -> Expr"))
      .def(
          "rows",
          [](const GruCell& self, nb::handle x, bool from_end) {
            return apply("gru", x, [&](Operand o) { return self.rows(o, from_end); });
          },
          "x"_a, "from_end"_a = false, nb::sig("def rows(self, x: Expr, from_end: bool = False) -> Expr"),
          "Runs over the rows of x as a sequence, and gives the state after each element: one node.")
      .def_prop_ro("hidden", &GruCell::hidden, "The size of h.");
}

template <class Layer>
nb::object attend(const Layer& self, nb::handle query, nb::handle keys, nb::handle values) {
  Call call("attention");
  call.look_at(query);
  const Operand operand = call.operand(query);
  const ExprList key_list = expr_list(call, keys);
  const ExprList value_list = expr_list(call, values);
  const nn::Attended attended =
      self(operand, Operands(std::span<const Expr>(key_list.data(), key_list.size()), call.where()),
           Operands(std::span<const Expr>(value_list.data(), value_list.size()), call.where()));
  return nb::make_tuple(call.wrap(attended.value), call.wrap(attended.weights));
}

void bind_attention(nb::module_& module) {
  constexpr const char* kCall =
      "def __call__(self, query: Operand, keys: collections.abc.Sequence[Operand], "
      "values: collections.abc.Sequence[Operand]) -> tuple[Expr, Expr]";
  constexpr const char* kDoc = "The weighted sum of the values, and the weights, one per key.";
  nb::class_<nn::DotAttention>(module, "DotAttention", "weights = softmax over i of (query . key_i).")
      .def(
          "__init__", [](nn::DotAttention* self, bool scaled) { new (self) nn::DotAttention({scaled}); }, nb::kw_only(),
          "scaled"_a = true)
      .def("__call__", &attend<nn::DotAttention>, "query"_a, "keys"_a, "values"_a, nb::sig(kCall), kDoc);
  nb::class_<nn::AdditiveAttention>(module, "AdditiveAttention",
                                    "weights = softmax over i of tanh(query W_query + key_i W_key + b) v.")
      .def(
          "__init__",
          [](nn::AdditiveAttention* self, const ScopeObject& scope, std::int32_t query, std::int32_t key,
             std::int32_t hidden, nb::handle init) {
            new (self) nn::AdditiveAttention(scope.scope, query, key, hidden, {initializer_of(init, init::glorot())});
          },
          "scope"_a, "query"_a, "key"_a, "hidden"_a, nb::kw_only(), "init"_a.none() = nb::none(), KeepScope())
      .def("__call__", &attend<nn::AdditiveAttention>, "query"_a, "keys"_a, "values"_a, nb::sig(kCall), kDoc);
}

}  // namespace

void bind_nn(nb::module_& module) {
  nb::module_ nn = module.def_submodule("layers", "Layers: they make their parameters in a scope of a model.");
  bind_plain_layers(nn);
  bind_embedding(nn);
  bind_binary_tree_lstm(nn);
  bind_other_tree_lstms(nn);
  bind_tree_gru(nn);
  bind_lstm(nn);
  bind_gru(nn);
  bind_attention(nn);
}

}  // namespace espalier::python
