// The layers over trees.
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
#include "recursion.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

using nn::TreeState;

std::vector<TreeState> children_of(Call& call, nb::handle children) {
  std::vector<TreeState> list;
  for (const nb::handle child : nb::iter(children)) list.push_back(child_of(call, child));
  return list;
}

template <class Layer>
nb::object leaf_of(const Layer& self, nb::handle x) {
  return apply_layer("leaf", x, [&](Operand o) { return self.leaf(o); });
}
template <class Layer>
nb::object rows_of(const Layer& self, nb::handle x, nb::handle tree) {
  const Structure structure = structure_of(tree);
  return apply_layer("rows", x, [&](Operand o) { return self.rows(o, structure); });
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

}  // namespace

// A child of a tree cell: a State, or None for one that is missing.
nn::TreeState child_of(Call& call, nb::handle child) {
  if (is_state(child)) {
    call.look_at(child);
    return state_of(child).state;
  }
  if (child.is_none()) return {};
  throw UsageError("a tree cell takes States, and None for a missing child\n  at " + call.where().to_string());
}

void bind_tree_layers(nb::module_& module) {
  bind_binary_tree_lstm(module);
  bind_other_tree_lstms(module);
  bind_tree_gru(module);
}

}  // namespace espalier::python
