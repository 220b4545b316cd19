// The layers over sequences.
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
            return apply_layer("lstm", x, [&](Operand o) { return self.rows(o, from_end); });
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
          [](const BiLstm& self, nb::handle x) {
            return apply_layer("bi_lstm", x, [&](Operand o) { return self.rows(o); });
          },
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
            return apply_layer("gru", x, [&](Operand o) { return self.rows(o, from_end); });
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

void bind_sequence_layers(nb::module_& module) {
  bind_lstm(module);
  bind_gru(module);
  bind_attention(module);
}

}  // namespace espalier::python
