// The extension module espalier._core: one function for each part of the bindings.
#include <nanobind/stl/string.h>

#include "bind.h"
#include "caller.h"
#include "espalier/base/threads.h"

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_core, module) {
  using namespace espalier::python;
  module.doc() = "The compiled part of espalier. Use the names of the package `espalier` instead.";
  bind_errors(module);
  bind_schedule(module);
  bind_torch(module);
  bind_graph(module);
  bind_model(module);
  bind_ops(module);
  bind_cells(module);
  bind_recursion(module);
  bind_nn(module);
  bind_optim(module);
  bind_train(module);
  bind_control(module);
  bind_onnx(module);
  module.def("thread_count", &espalier::thread_count, "How many threads a run uses at most.");
  module.def("set_thread_count", &espalier::set_thread_count, "count"_a,
             "1 to 1024. Waits for a run in another thread.");
  module.def(
      "set_package_folder", [](const std::string& folder) { set_package_folder(folder.c_str()); }, "folder"_a,
      "Lines of Python files below this folder are not what messages name.");
}
