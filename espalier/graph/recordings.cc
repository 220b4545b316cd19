#include "espalier/graph/recordings.h"

#include <algorithm>

#include "espalier/graph/kept_instance.h"

namespace espalier {

const KindOfNode* KeptKinds::kind(std::vector<std::uint32_t> key, const OpInfo* info,
                                  std::span<const std::uint32_t> attrs) {
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<const KindOfNode>& found = kinds_[std::move(key)];
  if (found == nullptr)
    found = std::make_unique<const KindOfNode>(KindOfNode{info, {attrs.begin(), attrs.end()}, kinds_.size() - 1});
  return found.get();
}

const KeptShared* KeptKinds::find_shared(std::uint64_t uid, const Type& type) {
  const std::scoped_lock lock(mutex_);
  for (const std::unique_ptr<const KeptShared>& known : shared_[uid])
    if (known->type.dtype == type.dtype && known->type.shape == type.shape) return known.get();
  return nullptr;
}

const KeptShared* KeptKinds::add_shared(KeptShared shared) {
  const std::scoped_lock lock(mutex_);
  shared.number = shared_count_++;
  auto& all = shared_[shared.uid];
  all.push_back(std::make_unique<const KeptShared>(std::move(shared)));
  return all.back().get();
}

void KeptKinds::hold(std::span<const std::shared_ptr<const void>> objects,
                     std::span<const std::pair<std::uint64_t, std::string>> notes) {
  const std::scoped_lock lock(mutex_);
  held_.insert(objects.begin(), objects.end());
  notes_.insert(notes.begin(), notes.end());
}

std::vector<std::pair<std::uint64_t, std::string>> KeptKinds::notes() const {
  const std::scoped_lock lock(mutex_);
  return {notes_.begin(), notes_.end()};
}

struct Recordings::State {
  /// The key, and what of a graph's options decides what is recorded.
  using Key = std::pair<std::uint64_t, std::uint32_t>;
  static Key key_of(std::uint64_t key, const GraphOptions& options) {
    return {key, (options.training ? 1U : 0U) | (options.expand_cells ? 2U : 0U) |
                     static_cast<std::uint32_t>(options.execution) << 2 |
                     static_cast<std::uint32_t>(options.dtype) << 4};
  }

  const KeptInstance* find(const Key& key) const {
    const std::scoped_lock lock(mutex);
    const auto found = instances.find(key);
    return found == instances.end() ? nullptr : found->second.get();
  }
  void put(const Key& key, std::unique_ptr<const KeptInstance> instance) {
    const std::scoped_lock lock(mutex);
    std::unique_ptr<const KeptInstance>& place = instances[key];
    place.swap(instance);
    if (instance != nullptr) outdated.push_back(std::move(instance));  // graphs may have its leaves
  }

  const std::uint64_t uid = new_uid();
  KeptKinds kinds;
  mutable std::mutex mutex;
  std::map<Key, std::unique_ptr<const KeptInstance>> instances;
  std::vector<std::unique_ptr<const KeptInstance>> outdated;
};

Recordings::Recordings() : state_(std::make_shared<State>()) {}
Recordings::~Recordings() = default;

void Recordings::record(Graph& graph, std::uint64_t key, const std::function<void(std::vector<Expr>&)>& make,
                        std::vector<Expr>& outputs) {
  if (graph.is_trace()) return make(outputs);
  const State::Key place = State::key_of(key, graph.options());
  const KeptInstance* const known = state_->find(place);
  if (known != nullptr && write_instance(graph, *known, state_->uid, state_->kinds, state_, outputs)) return;
  const InstanceMark before(graph);
  const std::size_t outputs_before = outputs.size();
  make(outputs);
  state_->put(place, read_instance(graph, before, std::span(outputs).subspan(outputs_before), state_->kinds));
}

std::int64_t Recordings::size() const {
  const std::scoped_lock lock(state_->mutex);
  return std::ssize(state_->instances);
}

std::int64_t Recordings::memory() const {
  const std::scoped_lock lock(state_->mutex);
  std::int64_t bytes = 0;
  for (const auto& [key, instance] : state_->instances) bytes += instance->memory();
  for (const std::unique_ptr<const KeptInstance>& instance : state_->outdated) bytes += instance->memory();
  return bytes;
}

void Recordings::clear() { state_ = std::make_shared<State>(); }

}  // namespace espalier
