// The kinds of blocks: each is a function that makes one.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "blocks.h"
#include "espalier/base/error.h"
#include "espalier/espalier.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

using blocks::Block;
using blocks::Key;
using blocks::KeyFunction;

struct ForwardObject {
  blocks::Forward forward;
  Uses uses;
};

Key key_of(nb::handle key) {
  if (PyUnicode_Check(key.ptr()) != 0) return nb::cast<std::string>(key);
  if (PyIndex_Check(key.ptr()) != 0) return nb::cast<std::int64_t>(nb::steal(PyNumber_Index(key.ptr())));
  throw UsageError(std::string("blocks: a key is a whole number or a string, not ") + Py_TYPE(key.ptr())->tp_name +
                   "\n  at " + caller().to_string());
}

std::vector<Key> keys_of(nb::handle keys) {
  std::vector<Key> result;
  for (const nb::handle key : nb::iter(keys)) result.push_back(key_of(key));
  return result;
}

// A block that takes nothing but its line.
template <Block (*make)(const char*, std::int32_t)>
void bind_plain(nb::module_& module, const char* name, const char* doc) {
  module.def(
      name,
      []() -> BlockObject {
        const SourceLine where = caller();
        return make(where.file(), where.line());
      },
      doc);
}

// A block with one block inside.
template <Block (*make)(const blocks::BlockArg&)>
void bind_around(nb::module_& module, const char* name, const char* doc) {
  const std::string signature = std::string("def ") + name + "(block: object) -> Block";
  module.def(
      name, [](nb::handle block) -> BlockObject { return make(block_arg(block, caller())); }, "block"_a,
      nb::sig(signature.c_str()), doc);
}

void bind_inputs(nb::module_& module) {
  bind_plain<&blocks::scalar>(module, "scalar", "Reads a number, as a tensor of rank 0.");
  module.def(
      "vector",
      [](std::int32_t size) -> BlockObject {
        const SourceLine where = caller();
        return blocks::vector(size, where.file(), where.line());
      },
      "size"_a, "Reads a list of so many numbers, as a tensor of rank 1.");
  module.def(
      "tensor",
      [](nb::handle shape) -> BlockObject {
        const SourceLine where = caller();
        return blocks::tensor(shape_of(shape), where.file(), where.line());
      },
      "shape"_a, nb::sig("def tensor(shape: int | collections.abc.Sequence[int]) -> Block"),
      "Reads nested lists of numbers, or one list of all in row-major order.");
  module.def(
      "one_hot",
      [](nb::handle elements, const std::string& unknown) -> BlockObject {
        const SourceLine where = caller();
        if (unknown != "refused" && unknown != "zeros")
          throw UsageError("one_hot: unknown is \"refused\" or \"zeros\"\n  at " + where.to_string());
        if (PyRange_Check(elements.ptr()) != 0 && unknown == "refused" && nb::cast<int>(elements.attr("step")) == 1)
          return blocks::one_hot(nb::cast<std::int64_t>(elements.attr("start")),
                                 nb::cast<std::int64_t>(elements.attr("stop")), where.file(), where.line());
        return blocks::one_hot(keys_of(elements),
                               unknown == "zeros" ? blocks::Unknown::kZeros : blocks::Unknown::kRefused, where.file(),
                               where.line());
      },
      "elements"_a, "unknown"_a = "refused",
      nb::sig("def one_hot(elements: collections.abc.Iterable[int | str], unknown: str = \"refused\") -> Block"),
      "Turns a whole number or a string into a vector with a single 1, at its place among the elements, such as\n"
      "``range(10)``. Others are an error, or give zeros if unknown=\"zeros\".");
  module.def(
      "get",
      [](nb::handle part) -> BlockObject {
        const SourceLine where = caller();
        const Key key = key_of(part);
        return key.is_text() ? blocks::get(key.text(), where.file(), where.line())
                             : blocks::get(key.number(), where.file(), where.line());
      },
      "part"_a, nb::sig("def get(part: str | int) -> Block"),
      "Takes a part: a string is a key of a dict or an attribute of an object, a number an item of a tuple or an\n"
      "element of a list; negative numbers count from the end.");
  module.def(
      "input_transform",
      [](nb::handle function) -> BlockObject {
        return blocks::function_block(transform_of(function, "input_transform()"), caller());
      },
      "function"_a, nb::sig("def input_transform(function: collections.abc.Callable[[object], object]) -> Block"),
      "Calls a function from data to data, such as ``str.lower``.");
  module.def(
      "lookup",
      [](const std::vector<std::string>& words, std::optional<std::int32_t> unknown) -> BlockObject {
        blocks::Vocabulary vocabulary(words);
        if (unknown) vocabulary.unknown(*unknown);
        const SourceLine where = caller();
        return blocks::lookup(vocabulary, where.file(), where.line());
      },
      "words"_a, "unknown"_a.none() = nb::none(),
      "Turns a word into its number: its place in the list. Other words are an error, or have the number `unknown`.");
}

void bind_tensors(nb::module_& module) {
  module.def(
      "function", [](nb::handle f) -> BlockObject { return block_arg(f, caller()).block(); }, "f"_a,
      nb::sig("def function(f: object) -> Block"),
      "Calls any function of Exprs, a layer or a cell. The items of a tuple are arguments of their own, sequences are\n"
      "lists, and data are as they are. The types of the results are found by calling it once on a graph that\n"
      "computes nothing, with 0 for data; if it cannot go on with that, ``gives(type)`` says what it gives.");
  module.def(
      "from_tensor",
      [](nb::handle t) -> BlockObject {
        const SourceLine where = caller();
        return is_parameter(t) ? block_arg(t, where).block() : blocks::tensor_block(constant_of(t), where);
      },
      "t"_a, nb::sig("def from_tensor(t: Parameter | numpy.typing.ArrayLike) -> Block"), "A constant, or a parameter.");
  module.def(
      "embedding", [](nb::handle table) -> BlockObject { return block_arg(table, caller()).block(); }, "table"_a,
      nb::sig("def embedding(table: layers.Embedding) -> Block"), "Turns a whole number into that row of a table.");
  module.def(
      "concat",
      [](std::int32_t axis, bool flatten) -> BlockObject {
        const SourceLine where = caller();
        return blocks::concat({axis, flatten}, where.file(), where.line());
      },
      "axis"_a = 0, "flatten"_a = false,
      "Joins the tensors of a tuple along an axis; with `flatten`, also those of tuples in it.");
  module.def(
      "zeros",
      [](const std::optional<std::string>& type) -> BlockObject {
        const SourceLine where = caller();
        std::optional<blocks::Type> parsed;
        if (type) parsed = blocks::Type::parse(*type);
        return blocks::zeros(parsed, where.file(), where.line());
      },
      "type"_a.none() = nb::none(), "Zeros of a type such as \"float[3]\", or of the type that is needed there.");
  bind_plain<&blocks::identity>(module, "identity", "Gives its input.");
  bind_plain<&blocks::nothing>(module, "nothing", "Drops its input.");
}

void bind_several(nb::module_& module) {
  module.def(
      "record",
      [](nb::handle fields) -> BlockObject {
        const SourceLine where = caller();
        if (PyDict_Check(fields.ptr()) == 0)
          return blocks::record(block_args(fields, where), where.file(), where.line());
        std::vector<blocks::Field> named;
        for (const auto& [name, block] : nb::borrow<nb::dict>(fields))
          named.emplace_back(nb::cast<std::string>(name), block_arg(block, where));
        return blocks::record(named, where.file(), where.line());
      },
      "fields"_a,
      nb::sig("def record(fields: collections.abc.Mapping[str, object] | collections.abc.Sequence[object]) -> Block"),
      "A block for each part of the data, by name or by place. The outputs are a tuple, in the order written.");
  module.def(
      "all_of",
      [](const nb::args& list) -> BlockObject {
        const SourceLine where = caller();
        return blocks::all_of(block_args(list, where), where.file(), where.line());
      },
      nb::sig("def all_of(*blocks: object) -> Block"), "Several blocks over one input. The outputs are a tuple.");
  module.def(
      "one_of",
      [](nb::handle key, const nb::dict& cases, nb::handle before) -> BlockObject {
        const SourceLine where = caller();
        std::vector<blocks::Case> list;
        for (const auto& [of, block] : cases) list.emplace_back(key_of(of), block_arg(block, where));
        const KeyFunction function = key.is_none() ? blocks::itself(where.file(), where.line())
                                     : PyUnicode_Check(key.ptr()) != 0
                                         ? blocks::key(nb::cast<std::string>(key), where.file(), where.line())
                                         : KeyFunction(blocks::function_block(transform_of(key, "key()"), where));
        if (!before.is_none()) return blocks::one_of(function, list, block_arg(before, where));
        return blocks::one_of(function, list, where.file(), where.line());
      },
      "key"_a.none(), "cases"_a, "before"_a.none() = nb::none(),
      nb::sig("def one_of(key: str | collections.abc.Callable[[object], int | str] | None, "
              "cases: collections.abc.Mapping[int | str, object], before: object | None = None) -> Block"),
      "Runs the one block that the data choose. The key is a part of the data by its name, what a function of the "
      "data\n"
      "gives, or with None the data themselves. With a block `before`, the cases get its output.");
  module.def(
      "optional",
      [](nb::handle some, nb::handle none) -> BlockObject {
        const SourceLine where = caller();
        return none.is_none() ? blocks::optional(block_arg(some, where))
                              : blocks::optional(block_arg(some, where), block_arg(none, where));
      },
      "some"_a, "none"_a.none() = nb::none(),
      nb::sig("def optional(some: object, none: object | None = None) -> Block"),
      "Runs `some` if there are data, and `none` for None. The default for `none` is zeros, or an empty sequence.");
  bind_around<&blocks::shared>(module, "shared",
                               "Runs a block once per object, however often the data refer to it: for DAGs.");
  nb::class_<ForwardObject>(module, "Forward", nb::type_slots(slots_with_uses<ForwardObject>()),
                            "A block that is declared before it is defined, for recursion.")
      .def(
          "__init__",
          [](ForwardObject* self, const std::string& name) {
            const SourceLine where = caller();
            new (self) ForwardObject{blocks::forward(name, where.file(), where.line()), {}};
            self->uses.append(nb::none());  // there is a list now, which what it gives has too
          },
          "name"_a)
      .def(
          "__call__", [](const ForwardObject& self) { return BlockObject(self.forward(), self.uses); },
          "The block, for use anywhere.")
      .def(
          "resolve_to",
          [](ForwardObject& self, nb::handle body) {
            const blocks::BlockArg block = block_arg(body, caller());
            self.uses.append(Uses::take().list());
            self.forward.resolve_to(block);
          },
          "body"_a, nb::sig("def resolve_to(self, body: object) -> None"), "Defines it, once.");
}

void bind_sequences(nb::module_& module) {
  bind_around<&blocks::map>(module, "map", "Runs a block on each element.");
  bind_around<&blocks::rnn_from>(module, "rnn_from", "rnn() over a pair: the sequence, and the first state.");
  bind_around<&blocks::zip_with>(module, "zip_with", "zip(), then map(block).");
  bind_plain<&blocks::sum>(module, "sum", "Adds all elements.");
  bind_plain<&blocks::min>(module, "min", "The elementwise minimum of all elements.");
  bind_plain<&blocks::max>(module, "max", "The elementwise maximum of all elements.");
  bind_plain<&blocks::mean>(module, "mean", "The mean of all elements.");
  bind_plain<&blocks::broadcast>(module, "broadcast", "Repeats a value without end, for zip().");
  bind_plain<&blocks::zip>(module, "zip", "Turns a tuple of sequences into one sequence of tuples.");
  bind_plain<&blocks::nth>(module, "nth", "Takes the element whose number is in the data: of (sequence, number).");
  bind_plain<&blocks::length>(module, "length", "Counts the elements, as a tensor of rank 0.");
  const auto two = [](blocks::Block (*one)(const blocks::BlockArg&),
                      blocks::Block (*both)(const blocks::BlockArg&, const blocks::BlockArg&)) {
    return [one, both](nb::handle block, nb::handle other) -> BlockObject {
      const SourceLine where = caller();
      return other.is_none() ? one(block_arg(block, where)) : both(block_arg(block, where), block_arg(other, where));
    };
  };
  module.def("rnn", two(&blocks::rnn, &blocks::rnn), "cell"_a, "initial"_a.none() = nb::none(),
             nb::sig("def rnn(cell: object, initial: object | None = None) -> Block"),
             "Carries a state through all elements: the outputs and the last state. A cell is (x, state) -> (output,\n"
             "state), or a recurrent layer. The first state is zeros, or what `initial` gives.");
  module.def("reduce", two(&blocks::reduce, &blocks::reduce), "combine"_a, "otherwise"_a.none() = nb::none(),
             nb::sig("def reduce(combine: object, otherwise: object | None = None) -> Block"),
             "Combines neighbours, round by round, until one element is left. An empty sequence gives zeros, or what\n"
             "`otherwise` gives.");
  module.def(
      "fold",
      [](nb::handle combine, nb::handle start) -> BlockObject {
        const SourceLine where = caller();
        return blocks::fold(block_arg(combine, where), block_arg(start, where));
      },
      "combine"_a, "start"_a, nb::sig("def fold(combine: object, start: object) -> Block"),
      "Carries a state through all elements: combine takes the state and an element, and gives the new state.");
  module.def(
      "ngrams",
      [](std::int32_t n) -> BlockObject {
        const SourceLine where = caller();
        return blocks::ngrams(n, where.file(), where.line());
      },
      "n"_a, "All windows of n neighbours, each a tuple.");
  module.def(
      "slice",
      [](std::optional<std::int64_t> start, std::optional<std::int64_t> stop, std::int64_t step) -> BlockObject {
        const SourceLine where = caller();
        return blocks::slice({start, stop, step}, where.file(), where.line());
      },
      "start"_a.none() = nb::none(), "stop"_a.none() = nb::none(), "step"_a = 1,
      "Takes some of the elements, as ``list[start:stop:step]`` does.");
}

void bind_sequence_models(nb::module_& module) {
  module.def(
      "attention",
      [](nb::handle layer) -> BlockObject {
        const SourceLine where = caller();
        Uses::add(layer);
        if (nb::isinstance<nn::DotAttention>(layer))
          return blocks::attention(nb::cast<const nn::DotAttention&>(layer), where.file(), where.line());
        const auto& additive = nb::cast<const nn::AdditiveAttention&>(layer);
        return blocks::attention(additive, where.file(), where.line());
      },
      "layer"_a, nb::sig("def attention(layer: layers.DotAttention | layers.AdditiveAttention) -> Block"),
      "A weighted sum of values, of (query, keys) or (query, keys, values).");
  module.def(
      "bidirectional",
      [](nb::handle forward, nb::handle backward) -> BlockObject {
        const SourceLine where = caller();
        return blocks::bidirectional(block_arg(forward, where), block_arg(backward, where));
      },
      "forward"_a, "backward"_a, nb::sig("def bidirectional(forward: object, backward: object) -> Block"),
      "Runs a recurrent cell from each end, and joins both outputs at each element.");
  module.def(
      "pad",
      [](std::int32_t before, std::int32_t after) -> BlockObject {
        const SourceLine where = caller();
        return blocks::pad(before, after, where.file(), where.line());
      },
      "before"_a, "after"_a, "Adds so many elements of zeros at the ends.");
  module.def(
      "conv",
      [](std::int32_t width, nb::handle layer, bool same) -> BlockObject {
        const blocks::BlockArg block = block_arg(layer, caller());
        return same ? blocks::conv(width, block, Padding::kSame) : blocks::conv(width, block);
      },
      "width"_a, "layer"_a, "same"_a = false,
      nb::sig("def conv(width: int, layer: object, same: bool = False) -> Block"),
      "Applies a layer to every `width` neighbours, joined. With `same`, zeros at the ends keep the length.");
  module.def(
      "stack",
      [](std::int32_t length) -> BlockObject {
        const SourceLine where = caller();
        return blocks::stack(length, where.file(), where.line());
      },
      "length"_a, "Turns a sequence into one tensor with a first axis of this length, zeros at its end.");
}

void bind_collecting(nb::module_& module) {
  module.def(
      "metric",
      [](const std::string& name) -> BlockObject {
        const SourceLine where = caller();
        return blocks::metric(name, where.file(), where.line());
      },
      "name"_a, "Collects a tensor, or a tensor with a label, anywhere in the model.");
  module.def(
      "loss",
      [](const std::string& name, double weight) -> BlockObject {
        const SourceLine where = caller();
        return blocks::loss(name, weight, where.file(), where.line());
      },
      "name"_a, "weight"_a = 1.0, "Adds a number to the loss, anywhere in the model.");
  module.def(
      "tap",
      [](const std::string& name) -> BlockObject {
        const SourceLine where = caller();
        return blocks::tap(name, where.file(), where.line());
      },
      "name"_a, "Passes a value through, and collects it.");
}

}  // namespace

void bind_block_kinds(nb::module_& module) {
  bind_inputs(module);
  bind_tensors(module);
  bind_several(module);
  bind_sequences(module);
  bind_sequence_models(module);
  bind_collecting(module);
}

}  // namespace espalier::python
