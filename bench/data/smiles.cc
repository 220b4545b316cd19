#include "bench/data/smiles.h"

#include <cctype>
#include <map>

namespace espalier::bench {
namespace {

enum BondKind : std::int32_t { kUnspecified = -1, kSingle = 0, kDouble = 1, kTriple = 2, kAromatic = 3 };

bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  SmilesGraph parse() {
    while (at_ < text_.size()) step();
    if (!branches_.empty()) refuse("expected ')' to close a branch");
    if (!rings_.empty()) refuse("expected ring " + std::to_string(rings_.begin()->first) + " to be closed");
    if (bond_ != kUnspecified) refuse("expected an atom after the bond");
    return std::move(graph_);
  }

 private:
  struct OpenRing {
    std::int32_t atom = -1;
    BondKind bond = kUnspecified;
  };

  void step() {
    const char c = text_[at_];
    switch (c) {
      case '(':
        need_atom();
        branches_.push_back(last_);
        ++at_;
        return;
      case ')':
        if (branches_.empty()) refuse("expected '(' before ')'");
        last_ = branches_.back();
        branches_.pop_back();
        ++at_;
        return;
      case '.':  // what follows is not bound to what was
        last_ = -1;
        ++at_;
        return;
      case '-':
      case '/':
      case '\\': return bond(kSingle);
      case '=': return bond(kDouble);
      case '#': return bond(kTriple);
      case ':': return bond(kAromatic);
      case '%': return ring(two_digits());
      case '[': return bracket_atom();
      default: break;
    }
    if (is_digit(c)) return ring(c - '0');
    plain_atom();
  }

  void bond(BondKind kind) {
    need_atom();
    bond_ = kind;
    ++at_;
  }

  /// "%12"; leaves at_ on the last digit, as after a single one.
  int two_digits() {
    if (at_ + 2 >= text_.size() || !is_digit(text_[at_ + 1]) || !is_digit(text_[at_ + 2]))
      refuse("expected two digits after '%'");
    at_ += 2;
    return (text_[at_ - 1] - '0') * 10 + (text_[at_] - '0');
  }

  void ring(int number) {
    need_atom();
    ++at_;
    const auto found = rings_.find(number);
    if (found == rings_.end()) {
      rings_[number] = {last_, bond_};
    } else {
      const OpenRing open = found->second;
      rings_.erase(found);
      connect(open.atom, last_, bond_ == kUnspecified ? open.bond : bond_);
    }
    bond_ = kUnspecified;
  }

  void plain_atom() {
    constexpr std::string_view kOneLetter = "BCNOPSFIbcnops*";
    const std::string_view two = text_.substr(at_, 2);
    const std::size_t length = two == "Cl" || two == "Br" ? 2 : 1;
    if (length == 1 && kOneLetter.find(text_[at_]) == std::string_view::npos) refuse("expected an atom or a bond");
    add_atom(std::string(text_.substr(at_, length)));
    at_ += length;
  }

  /// "[13C@@H2+]": the element and its charge are kept.
  void bracket_atom() {
    const std::size_t end = text_.find(']', at_);
    if (end == std::string_view::npos) refuse("expected ']' to close the atom");
    std::size_t i = at_ + 1;
    while (i < end && is_digit(text_[i])) ++i;
    if (i == end) refuse("expected an element in brackets");
    std::string atom(1, text_[i++]);
    if (i < end && is_lower(text_[i])) atom += text_[i++];
    for (; i < end; ++i)
      if (text_[i] == '+' || text_[i] == '-') atom += text_[i];
    add_atom(std::move(atom));
    at_ = end + 1;
  }

  void add_atom(std::string atom) {
    graph_.atoms.push_back(std::move(atom));
    const auto number = static_cast<std::int32_t>(graph_.atoms.size()) - 1;
    if (last_ >= 0) connect(last_, number, bond_);
    last_ = number;
    bond_ = kUnspecified;
  }

  /// A bond without a sign is aromatic between two aromatic atoms.
  void connect(std::int32_t a, std::int32_t b, BondKind kind) {
    if (kind == kUnspecified) kind = is_aromatic(a) && is_aromatic(b) ? kAromatic : kSingle;
    graph_.bonds.push_back({.a = a, .b = b, .kind = kind});
  }

  bool is_aromatic(std::int32_t atom) const { return is_lower(graph_.atoms[static_cast<std::size_t>(atom)][0]); }

  void need_atom() const {
    if (last_ < 0) refuse("expected an atom");
  }

  [[noreturn]] void refuse(const std::string& message) const { throw SmilesError(at_, message); }

  std::string_view text_;
  std::size_t at_ = 0;
  SmilesGraph graph_;
  std::int32_t last_ = -1;  // the atom that the next one is bound to
  BondKind bond_ = kUnspecified;
  std::vector<std::int32_t> branches_;
  std::map<int, OpenRing> rings_;
};

}  // namespace

SmilesGraph parse_smiles(std::string_view text) { return Parser(text).parse(); }

}  // namespace espalier::bench
