#include "espalier/graph/op_sample.h"

#include <cstring>

namespace espalier {

template <class T>
Examples<T>::Examples(std::initializer_list<T> list) : list_(list) {}
template <class T>
Examples<T>::Examples(const Examples& other) = default;
template <class T>
Examples<T>& Examples<T>::operator=(const Examples& other) = default;
template <class T>
Examples<T>::~Examples() = default;
template <class T>
std::size_t Examples<T>::size() const {
  return list_.size();
}
template <class T>
const T* Examples<T>::begin() const {
  return list_.data();
}
template class Examples<OpSample>;
template class Examples<OpRefusal>;

namespace detail {
namespace {

OpCall call_of(BytesOf attrs, BytesOf fields) {
  const auto copied = [](BytesOf bytes) {
    const auto* begin = static_cast<const std::byte*>(bytes.data);
    return std::vector<std::byte>(begin, begin + bytes.size);
  };
  return {copied(attrs), copied(fields)};
}

}  // namespace

OpSample gives(BytesOf attrs, BytesOf fields, std::initializer_list<Tensor> inputs, const Tensor& expected) {
  return {call_of(attrs, fields), inputs, expected, {}, -2, 2};
}
OpSample works_on(BytesOf attrs, BytesOf fields, std::initializer_list<Shape> shapes) {
  return {call_of(attrs, fields), {}, std::nullopt, shapes, -2, 2};
}
OpRefusal refuses(BytesOf attrs, BytesOf fields, std::initializer_list<Shape> shapes, std::string_view sentence) {
  return {call_of(attrs, fields), shapes, std::string(sentence)};
}

}  // namespace detail
}  // namespace espalier
