// espalier.export_onnx: recorded instances as one static graph.
#include "espalier/onnx/onnx.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bind.h"
#include "espalier/base/error.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

void export_onnx(nb::handle path, const std::vector<std::string>& outputs, nb::handle samples) {
  std::vector<onnx::Instance> instances;
  for (const nb::handle sample : nb::iter(samples)) {
    onnx::Instance& instance = instances.emplace_back();
    const nb::object list = is_expr(sample) ? nb::object(nb::make_tuple(sample)) : nb::borrow(sample);
    for (const nb::handle expr : nb::iter(list)) {
      if (!is_expr(expr)) throw UsageError("export_onnx: a sample is an Expr, or a list with one per output");
      instance.push_back(node_of(expr).expr);
    }
  }
  onnx::write(nb::cast<std::string>(nb::str(path)), outputs, instances);
}

}  // namespace

void bind_onnx(nb::module_& module) {
  module.def("export_onnx", &export_onnx, "path"_a, "outputs"_a, "samples"_a,
             nb::sig("def export_onnx(path: str | os.PathLike, outputs: collections.abc.Sequence[str], samples: "
                     "collections.abc.Iterable[Expr | collections.abc.Sequence[Expr]]) -> None"),
             R"(Writes one ONNX file that evaluates a network for inputs of any shape; the structure is fed in as data.

outputs: their names
samples: the outputs of recorded instances, an Expr or a list with one per name, all of one graph that is not for
    training. Together they must use every op, cell and kind of row that later instances will use.

docs/static_graphs.md says what the file takes, and examples/onnx_weaver.py makes that without Espalier.)");
}

}  // namespace espalier::python
