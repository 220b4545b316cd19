#include <fmt/format.h>

#include <limits>
#include <unordered_map>

#include "espalier/base/at.h"
#include "espalier/base/error.h"
#include "espalier/data/json.h"
#include "espalier/onnx/lower.h"
#include "espalier/onnx/onnx.h"
#include "espalier/onnx/read_file.h"
#include "espalier/onnx/schedule.h"

namespace espalier::onnx {

struct Weaver::State {
  std::string path;
  std::map<std::string, std::string> metadata;
  Format format;
  std::unordered_map<std::string, std::int32_t> by_key;

  KnownSignature find(const Body& body) const {
    const SignatureFormat wanted = format_of(body);
    const auto found = by_key.find(wanted.key);
    if (found == by_key.end())
      throw UsageError(
          fmt::format("onnx: \"{}\" has no signature {}: no sample that it was written from had one", path, body.name));
    return {found->second, static_cast<std::int32_t>(body.results.size())};
  }
};

Weaver::Weaver(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->path = path.string();
  state->metadata = read_metadata(path);
  const std::string source = path.string() + ": its schedule";
  try {
    state->format = Format::from_value(data::parse_json(state->metadata.at(std::string(kScheduleEntry)), source));
  } catch (const UsageError& error) {
    throw DataError(fmt::format("{}: {}", source, error.what()));
  }
  for (std::size_t s = 0; s < state->format.signatures.size(); ++s)
    state->by_key.emplace(state->format.signatures[s].key, static_cast<std::int32_t>(s));
  state_ = std::move(state);
}
Weaver::~Weaver() = default;
Weaver::Weaver(Weaver&&) noexcept = default;
Weaver& Weaver::operator=(Weaver&&) noexcept = default;

std::vector<Call> Weaver::weave(std::span<const Instance> instances) const {
  std::vector<Call> calls;
  lower(
      instances, state_->format.outputs.size(), kMostNodes, [this](const Body& body) { return state_->find(body); },
      [&](NodeList&& nodes, std::int64_t first, std::int64_t count) {
        calls.push_back({.feeds = weave(nodes), .first = first, .count = count});
      });
  return calls;
}

NodeList Weaver::read(std::span<const Instance> instances) const {
  NodeList all;
  all.outputs.resize(state_->format.outputs.size());
  lower(
      instances, state_->format.outputs.size(), std::numeric_limits<std::int64_t>::max(),
      [this](const Body& body) { return state_->find(body); },
      [&](NodeList&& nodes, std::int64_t, std::int64_t) { all = std::move(nodes); });
  return all;
}

std::vector<Feed> Weaver::weave(const NodeList& nodes) const {
  require_valid(state_->format, nodes);
  return make_feeds(state_->format, nodes);
}

void Weaver::check(std::span<const Feed> feeds) const { check_feeds(state_->format, feeds); }

std::vector<std::string> Weaver::signatures() const {
  std::vector<std::string> names;
  for (const SignatureFormat& signature : state_->format.signatures) names.push_back(signature.name);
  return names;
}

std::vector<std::string> Weaver::outputs() const {
  std::vector<std::string> names;
  for (const OutputFormat& output : state_->format.outputs) names.push_back(output.name);
  return names;
}

std::string Weaver::metadata(const std::string& key) const {
  const auto entry = state_->metadata.find(key);
  return entry == state_->metadata.end() ? std::string() : entry->second;
}

}  // namespace espalier::onnx
