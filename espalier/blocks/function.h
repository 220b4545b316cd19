/// How a callable becomes a block: which arguments it takes from registers, and which results it leaves there.
///
/// A callable may take, in any order and number:
///   Expr, Operand                          a tensor
///   nn::LstmState, std::pair, std::tuple   a tuple of such
///   Operands, std::span<const Expr>        a sequence of tensors
///   nn::Children                           a sequence of states
///   int, double, bool, std::string_view    an input that is such a thing
///   any other type                         an input of that C++ type, by value or const reference
/// and a Graph& before all of them. It may return Expr, nn::LstmState, std::pair, std::tuple, std::array or
/// std::vector of these, nothing, or an object of any other type, which is an input for the blocks that follow.
///
/// Call operators with overloads or templates have no signature to look at: wrap them in a lambda, or list their
/// signatures in a specialisation of Signatures, as is done here for the layers of nn.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/base/source_line.h"
#include "espalier/blocks/input_type.h"
#include "espalier/blocks/slot.h"
#include "espalier/blocks/type.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/state.h"

namespace espalier {
class Graph;
namespace nn {
class BinaryTreeLstm;
class ChildSumTreeLstm;
class NaryTreeLstm;
class TreeGru;
}  // namespace nn
}  // namespace espalier

namespace espalier::blocks {

/// What a call knows before there are data.
struct CallSite {
  std::vector<const InputType*> types = {};  // NOLINT(readability-redundant-member-init): of the inputs among `in`
  SourceLine where = {};                     // NOLINT(readability-redundant-member-init): of the block
  bool rehearsal = false;                    // only the types of the results are wanted: there are no data
  const Offset* in = nullptr;                // the registers of its arguments, and of its results
  const Offset* out = nullptr;
};

/// What a call sees of the walk.
struct CallContext {
  Graph* graph = nullptr;
  Keep* keep = nullptr;
  Slot* frame = nullptr;
  const CallSite* site = nullptr;

  Slot& argument(std::size_t i) const { return slot_at(frame, site->in[i]); }
  Slot& result(std::size_t i) const { return slot_at(frame, site->out[i]); }
};

/// What an argument may be.
struct Pattern {
  enum class Kind : std::uint8_t { kTensor, kTuple, kSequence, kObject, kNumber, kInteger, kText };
  Kind kind = Kind::kTensor;
  std::vector<Pattern> items = {};         // NOLINT(readability-redundant-member-init): may be left out
  const InputType& (*object)() = nullptr;  // of kObject
};

/// One signature.
struct CallForm {
  std::vector<Pattern> arguments;
  void (*call)(const void* object, const CallContext& context) = nullptr;
  /// The type of the results, from the slots that they are in.
  Type (*result_type)(const Slot*& slots) = nullptr;
  /// How many slots the results have.
  std::int32_t results = 0;
  /// The results are objects, whose types are known without calling.
  bool gives_objects = false;
};

/// A callable, erased.
struct FunctionSpec {
  std::string label;
  std::shared_ptr<const void> object;
  std::vector<CallForm> forms;
  // What a layer says of itself, where types could not be found without.
  std::optional<Type> input;
  std::optional<Type> output;
  /// It takes (x, state) and gives the new state, which begins with its output: a cell of nn.
  bool recurrent = false;
  /// It gives the address of a part of the one object that it takes, and no more; see FieldSpec.
  const void* (*part)(const void* object, const void* whole) = nullptr;
  /// Where that part lies in the object, if always in the same place.
  std::optional<std::int32_t> offset;
};

/// A member of a struct, read without the detour of a call: half of what a walk does.
struct FieldSpec {
  const void* (*part)(const void* object, const void* whole) = nullptr;
  const void* object = nullptr;  // of the function
};

/// A use of a function in a compiled model.
struct ApplySpec {
  void (*call)(const void* object, const CallContext& context) = nullptr;
  const void* object = nullptr;
  CallSite site;
  std::vector<Type> results;  // where they are checked
};

struct Procedure;

/// Thrown by an argument that cannot be made up for a rehearsal.
struct CannotRehearse {};

/// A member of a struct that a declaration is called with.
struct FieldCallSpec {
  FieldSpec field;
  Offset part;  // the register of the member
  const Procedure* procedure;
};

template <class... Signature>
struct SignatureList {};

/// The signatures of a callable.
template <class F>
struct Signatures;

namespace detail {

/// Where a member lies in its struct. By the C++ ABI that all but one compiler follow, that is what a pointer to a
/// member holds.
template <class T, class Member>
std::optional<std::int32_t> offset_of(Member T::*member) {
  static_assert(sizeof(member) == sizeof(std::ptrdiff_t));
  const auto offset = std::bit_cast<std::ptrdiff_t>(member);
  if (offset < 0 || offset > std::numeric_limits<std::int32_t>::max()) return std::nullopt;  // null, or enormous
  return static_cast<std::int32_t>(offset);
}

template <class... Each>
struct ArgumentList {};

/// Layers end with the user's file and line, which nobody passes.
template <class Result, class Kept, class... Rest>
struct WithoutLine;
template <class Result, class... Kept>
struct WithoutLine<Result, ArgumentList<Kept...>> {
  using Type = Result(Kept...);
};
template <class Result, class... Kept>
struct WithoutLine<Result, ArgumentList<Kept...>, const char*, std::int32_t> {
  using Type = Result(Kept...);
};
template <class Result, class... Kept, class First, class... Rest>
struct WithoutLine<Result, ArgumentList<Kept...>, First, Rest...>
    : WithoutLine<Result, ArgumentList<Kept..., First>, Rest...> {};

template <class T>
struct SignatureOf;
template <class R, class... A>
struct SignatureOf<R (*)(A...)> {
  using Type = typename WithoutLine<R, ArgumentList<>, A...>::Type;
};
template <class R, class C, class... A>
struct SignatureOf<R (C::*)(A...) const> : SignatureOf<R (*)(A...)> {};
template <class R, class C, class... A>
struct SignatureOf<R (C::*)(A...)> : SignatureOf<R (*)(A...)> {};
template <class R, class C, class... A>
struct SignatureOf<R (C::*)(A...) const noexcept> : SignatureOf<R (*)(A...)> {};

}  // namespace detail

template <class F>
requires requires { &F::operator(); }
struct Signatures<F> : SignatureList<typename detail::SignatureOf<decltype(&F::operator())>::Type> {};
template <class R, class... A>
struct Signatures<R (*)(A...)> : SignatureList<typename detail::SignatureOf<R (*)(A...)>::Type> {};
template <>
struct Signatures<nn::BinaryTreeLstm>
    : SignatureList<nn::TreeState(nn::TreeState, nn::TreeState), nn::TreeState(Operand, nn::TreeState, nn::TreeState)> {
};
template <>
struct Signatures<nn::NaryTreeLstm>
    : SignatureList<nn::TreeState(const nn::Children&), nn::TreeState(Operand, const nn::Children&)> {};
template <>
struct Signatures<nn::ChildSumTreeLstm>
    : SignatureList<nn::TreeState(const nn::Children&), nn::TreeState(Operand, const nn::Children&)> {};
template <>
struct Signatures<nn::TreeGru> : SignatureList<Expr(const Operands&), Expr(Operand, Operand)> {};

template <class F>
concept HasSignatures = requires {
  sizeof(Signatures<std::remove_cvref_t<F>>);
};

namespace detail {

// --- arguments -------------------------------------------------------------------------------------------------------

/// A whole number as T, which must have it.
template <class T>
T read_whole(const InputType& type, const void* object) {
  if constexpr (std::is_same_v<T, bool>) {
    return read_integer(type, object) != 0;
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(read_whole<std::underlying_type_t<T>>(type, object));
  } else {
    if constexpr (std::is_signed_v<T> && sizeof(T) >= sizeof(std::int32_t)) {
      if (type.is_int32 && object != nullptr) return *static_cast<const std::int32_t*>(object);
    }
    constexpr std::int64_t kLowest = std::is_signed_v<T> ? static_cast<std::int64_t>(std::numeric_limits<T>::min()) : 0;
    constexpr std::int64_t kHighest = sizeof(T) == sizeof(std::int64_t)
                                          ? std::numeric_limits<std::int64_t>::max()
                                          : static_cast<std::int64_t>(std::numeric_limits<T>::max());
    return static_cast<T>(read_integer(type, object, kLowest, kHighest));
  }
}

/// How an argument of type P is read: its pattern, how many slots it takes, and the reading.
template <class P>
struct Argument {
  using Read = ReadAs<P>;
  static constexpr std::size_t kWidth = 1;
  static Pattern pattern() {
    if constexpr (std::is_floating_point_v<Read>)
      return {.kind = Pattern::Kind::kNumber};
    else if constexpr (NumberLike<Read>)
      return {.kind = Pattern::Kind::kInteger};
    else if constexpr (std::is_same_v<Read, std::string_view>)
      return {.kind = Pattern::Kind::kText};
    else
      return {.kind = Pattern::Kind::kObject, .items = {}, .object = &input_type<Read>};
  }
  static decltype(auto) read(const CallContext& context, std::size_t at) {
    if constexpr (std::is_floating_point_v<Read>) {
      if (context.site->rehearsal) return Read{};
      return static_cast<Read>(read_number(*context.site->types[at], context.argument(at).input));
    } else if constexpr (NumberLike<Read>) {
      if (context.site->rehearsal) return Read{};
      return read_whole<Read>(*context.site->types[at], context.argument(at).input);
    } else if constexpr (std::is_same_v<Read, std::string_view>) {
      if (context.site->rehearsal) return std::string_view();
      return read_text(*context.site->types[at], context.argument(at).input);
    } else if constexpr (std::is_pointer_v<std::remove_cvref_t<P>>) {
      if (context.site->rehearsal) throw CannotRehearse();
      return static_cast<const Read*>(context.argument(at).input);
    } else {
      return object(context, at);
    }
  }

 private:
  static const Read& object(const CallContext& context, std::size_t at) {
    if (context.site->rehearsal) {
      if constexpr (std::is_default_constructible_v<Read>)
        return *context.keep->keep(Read{});
      else
        throw CannotRehearse();
    }
    const void* given = context.argument(at).input;
    if (given == nullptr) refuse_data("the input is null");
    return *static_cast<const Read*>(given);
  }
};

template <class P>
struct TensorArgument {
  static constexpr std::size_t kWidth = 1;
  static Pattern pattern() { return {}; }
};
template <>
struct Argument<Expr> : TensorArgument<Expr> {
  static const Expr& read(const CallContext& context, std::size_t at) { return context.argument(at).expr; }
};
template <>
struct Argument<Operand> : TensorArgument<Operand> {
  static Operand read(const CallContext& context, std::size_t at) {
    return {context.argument(at).expr, context.site->where};
  }
};

/// Pairs and tuples of nothing but data are objects, those that hold tensors are tuples.
template <class T>
struct HoldsTensors : std::bool_constant<std::is_same_v<T, Expr> || std::is_same_v<T, Operand> ||
                                         std::is_same_v<T, nn::LstmState> || std::is_same_v<T, std::vector<Expr>>> {};
template <class A, class B>
struct HoldsTensors<std::pair<A, B>> : std::disjunction<HoldsTensors<A>, HoldsTensors<B>> {};
template <class... Items>
struct HoldsTensors<std::tuple<Items...>> : std::disjunction<HoldsTensors<Items>...> {};

/// A tuple of tensors, or of tuples.
template <class Whole, class... Items>
struct TupleArgument {
  static constexpr std::size_t kWidth = (Argument<Items>::kWidth + ... + 0);
  static Pattern pattern() { return {.kind = Pattern::Kind::kTuple, .items = {Argument<Items>::pattern()...}}; }
  static Whole read(const CallContext& context, std::size_t at) {
    const auto next = [&](std::size_t width) { return std::exchange(at, at + width); };
    return Whole{Argument<Items>::read(context, next(Argument<Items>::kWidth))...};
  }
};
template <>
struct Argument<nn::LstmState> : TupleArgument<nn::LstmState, Expr, Expr> {};
template <class A, class B>
requires HoldsTensors<std::pair<A, B>>::value struct Argument<std::pair<A, B>> : TupleArgument<std::pair<A, B>, A, B> {
};
template <class... Items>
requires HoldsTensors<std::tuple<Items...>>::value struct Argument<std::tuple<Items...>>
    : TupleArgument<std::tuple<Items...>, Items...> {
};

/// A sequence lies in memory as the Exprs of its elements, one after the other.
template <class Item>
std::span<const Item> elements_of(const Slot& slot) {
  static_assert(sizeof(Item) % sizeof(Slot) == 0);
  return {reinterpret_cast<const Item*>(slot.sequence.data), static_cast<std::size_t>(slot.sequence.count)};
}
template <class Whole, class Item>
struct SequenceArgument {
  static constexpr std::size_t kWidth = 1;
  static Pattern pattern() { return {.kind = Pattern::Kind::kSequence, .items = {Argument<Item>::pattern()}}; }
  static Whole read(const CallContext& context, std::size_t at) {
    const std::span<const Item> elements = elements_of<Item>(context.argument(at));
    if constexpr (std::is_constructible_v<Whole, std::span<const Item>, SourceLine>)
      return Whole(elements, context.site->where);
    else
      return Whole(elements.begin(), elements.end());
  }
};
template <>
struct Argument<Operands> : SequenceArgument<Operands, Expr> {};
template <>
struct Argument<std::span<const Expr>> : SequenceArgument<std::span<const Expr>, Expr> {};
template <>
struct Argument<std::vector<Expr>> : SequenceArgument<std::vector<Expr>, Expr> {};
template <>
struct Argument<nn::Children> : SequenceArgument<nn::Children, nn::LstmState> {};
template <>
struct Argument<std::span<const nn::LstmState>> : SequenceArgument<std::span<const nn::LstmState>, nn::LstmState> {};

template <class P>
using ArgumentOf = Argument<std::remove_cvref_t<P>>;

// --- results ---------------------------------------------------------------------------------------------------------

/// How a result of type R is left: its type, how many slots it takes, and the writing.
template <class R>
struct Result {
  static constexpr std::size_t kWidth = 1;
  static constexpr bool kObject = true;
  static Type type(const Slot*& slots) {
    ++slots;
    return Type::input<ReadAs<R>>();
  }
  static void write(R&& result, const CallContext& context, std::size_t at) {
    context.result(at).input = kept_address(std::move(result), *context.keep);
  }
};
template <class R>
struct Result<const R&> {
  static constexpr std::size_t kWidth = 1;
  static constexpr bool kObject = true;
  static Type type(const Slot*& slots) { return Result<R>::type(slots); }
  static void write(const R& result, const CallContext& context, std::size_t at) {
    context.result(at).input = address_of(result);
  }
};
template <class R>
struct Result<R&> : Result<const R&> {};
template <>
struct Result<Expr> {
  static constexpr std::size_t kWidth = 1;
  static constexpr bool kObject = false;
  static Type type(const Slot*& slots) { return Type::tensor((slots++)->expr.shape()); }
  static void write(const Expr& result, const CallContext& context, std::size_t at) {
    context.result(at).expr = result;
  }
};
template <class Whole, class... Items>
struct TupleResult {
  static constexpr std::size_t kWidth = (Result<Items>::kWidth + ... + 0);
  static constexpr bool kObject = (Result<Items>::kObject && ...);
  static Type type(const Slot*& slots) {
    std::vector<Type> items;
    (items.push_back(Result<Items>::type(slots)), ...);
    return Type::tuple(std::move(items));
  }
  static void write(Whole&& result, const CallContext& context, std::size_t at) {
    const auto put = [&]<class Item>(Item&& item) {
      Result<std::remove_cvref_t<Item>>::write(std::forward<Item>(item), context, at);
      at += Result<std::remove_cvref_t<Item>>::kWidth;
    };
    std::apply([&](auto&&... item) { (put(std::move(item)), ...); }, std::move(result));
  }
};
template <class A, class B>
requires HoldsTensors<std::pair<A, B>>::value struct Result<std::pair<A, B>> : TupleResult<std::pair<A, B>, A, B> {
};
template <class... Items>
requires HoldsTensors<std::tuple<Items...>>::value struct Result<std::tuple<Items...>>
    : TupleResult<std::tuple<Items...>, Items...> {
};
template <>
struct Result<nn::LstmState> : TupleResult<std::pair<Expr, Expr>, Expr, Expr> {
  static void write(const nn::LstmState& result, const CallContext& context, std::size_t at) {
    context.result(at).expr = result.h;
    context.result(at + 1).expr = result.c;
  }
};
template <std::size_t n>
struct Result<std::array<Expr, n>> {
  static constexpr std::size_t kWidth = n;
  static constexpr bool kObject = false;
  static Type type(const Slot*& slots) {
    std::vector<Type> items;
    for (std::size_t i = 0; i < n; ++i) items.push_back(Result<Expr>::type(slots));
    return Type::tuple(std::move(items));
  }
  static void write(const std::array<Expr, n>& result, const CallContext& context, std::size_t at) {
    for (const Expr& item : result) context.result(at++).expr = item;
  }
};
template <>
struct Result<std::vector<Expr>> {
  static constexpr std::size_t kWidth = 1;
  static constexpr bool kObject = false;
  static Type type(const Slot*& slots) {
    const Slot::Sequence& sequence = (slots++)->sequence;
    if (sequence.count == 0) throw CannotRehearse();
    return Type::sequence(Type::tensor(sequence.data[0].expr.shape()));
  }
  static void write(const std::vector<Expr>& result, const CallContext& context, std::size_t at) {
    const auto count = static_cast<std::int64_t>(result.size());
    Slot* slots = context.keep->slots(count);
    for (std::size_t i = 0; i < result.size(); ++i) slots[i].expr = result[i];
    context.result(at).sequence = {slots, count};
  }
};
template <>
struct Result<void> {
  static constexpr std::size_t kWidth = 0;
  static constexpr bool kObject = true;
  static Type type(const Slot*&) { return {}; }
};

// --- forms -----------------------------------------------------------------------------------------------------------

/// The values of a call's arguments, read from the first to the last.
template <class... A>
auto read_arguments(const CallContext& context) {
  std::size_t at = 0;
  const auto next = [&](std::size_t width) { return std::exchange(at, at + width); };
  return std::tuple<decltype(ArgumentOf<A>::read(context, 0))...>{
      ArgumentOf<A>::read(context, next(ArgumentOf<A>::kWidth))...};
}

template <class R, class Invoke>
void write_result_of(const Invoke& invoke, const CallContext& context) {
  if constexpr (std::is_void_v<R>)
    invoke();
  else
    Result<R>::write(invoke(), context, 0);
}

template <class R, class... A>
CallForm make_form(void (*call)(const void* object, const CallContext& context)) {
  return {{ArgumentOf<A>::pattern()...},
          call,
          &Result<R>::type,
          static_cast<std::int32_t>(Result<R>::kWidth),
          Result<R>::kObject};
}

/// Calls f. If it takes a file and a line as its last arguments, as layers do, it is given those of the block.
template <class R, class F, class... A>
R call_at_line(const F& f, SourceLine where, A&&... arguments) {
  if constexpr (std::is_invocable_v<const F&, A..., const char*, std::int32_t>)
    return f(std::forward<A>(arguments)..., where.file(), where.line());
  else
    return f(std::forward<A>(arguments)...);
}

template <class F, class Signature>
struct Form;
template <class F, class R, class... A>
struct Form<F, R(A...)> {
  static void call(const void* object, const CallContext& context) {
    const auto arguments = read_arguments<A...>(context);
    const auto invoke = [&](const auto&... each) -> R {
      return call_at_line<R>(*static_cast<const F*>(object), context.site->where, each...);
    };
    write_result_of<R>([&]() -> R { return std::apply(invoke, arguments); }, context);
  }
  static CallForm make() { return make_form<R, A...>(&call); }
};
template <class F, class R, class... A>
struct Form<F, R(Graph&, A...)> {
  static void call(const void* object, const CallContext& context) {
    const auto arguments = read_arguments<A...>(context);
    const auto invoke = [&](const auto&... each) -> R {
      return call_at_line<R>(*static_cast<const F*>(object), context.site->where, *context.graph, each...);
    };
    write_result_of<R>([&]() -> R { return std::apply(invoke, arguments); }, context);
  }
  static CallForm make() { return make_form<R, A...>(&call); }
};

template <class F, class... S>
std::vector<CallForm> forms_of(const SignatureList<S...>&) {
  return {Form<F, S>::make()...};
}

/// A state of so many numbers, twice.
inline Type lstm_state(std::int32_t hidden) { return Type::tuple({hidden, hidden}); }

/// Of a callable that says nothing of itself.
inline constexpr const char* kFunctionLabel = "function()";
ESPALIER_EXPORT std::string layer_label(const std::string& type, const Parameter& weights);

/// What a layer says of itself.
template <class F>
void add_known_types(const F& f, FunctionSpec& spec) {
  // A layer is known by its weights: Linear(classify.W).
  if constexpr (requires { f.weights(); }) {
    if (spec.label == kFunctionLabel) spec.label = layer_label(type_name<F>(), f.weights());
  }
  if constexpr (requires {
                  f.dim();
                  f.table();
                }) {
    spec.output = Type(f.dim());
  } else if constexpr (requires {
                         f.input();
                         f.hidden();
                         f.initial(std::declval<Graph&>());
                       }) {
    const bool is_lstm = spec.forms[0].results == 2;
    const Type state = is_lstm ? lstm_state(f.hidden()) : Type(f.hidden());
    spec.input = Type::tuple({Type(f.input()), state});
    spec.output = state;
    spec.recurrent = true;
  } else if constexpr (requires { f.hidden(); }) {
    spec.output = spec.forms[0].results == 2 ? lstm_state(f.hidden()) : Type(f.hidden());
  } else {
    if constexpr (requires { f.input(); }) spec.input = Type(static_cast<std::int32_t>(f.input()));
    if constexpr (requires { f.output(); }) spec.output = Type(static_cast<std::int32_t>(f.output()));
  }
}

}  // namespace detail

/// Erases a callable that has signatures.
template <class F>
FunctionSpec make_function_spec(F f, std::string label) {
  FunctionSpec spec;
  spec.label = std::move(label);
  auto object = std::make_shared<const F>(std::move(f));
  spec.forms = detail::forms_of<F>(Signatures<F>());
  detail::add_known_types(*object, spec);
  spec.object = std::move(object);
  return spec;
}

}  // namespace espalier::blocks
