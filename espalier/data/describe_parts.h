/// What descriptions of data (data/describe.h) are made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "espalier/data/describe.h"

namespace espalier::data {

/// Smallest, mean and largest of some numbers.
class Extent {
 public:
  void take(std::int64_t number) {
    low_ = count_ == 0 ? number : std::min(low_, number);
    high_ = std::max(high_, number);
    sum_ += static_cast<double>(number);
    ++count_;
  }
  std::string text() const;

 private:
  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
  std::int64_t count_ = 0;
  double sum_ = 0;
};

using Tally = std::map<std::string, std::int64_t, std::less<>>;

/// The most frequent first; of equally frequent ones in the order of the alphabet.
std::vector<Count> sorted(const Tally& tally);

/// Of the table of SICK, or a folder of its parsed sentences: `result` has its format already.
void describe_sick(const std::filesystem::path& path, const ReadOptions& options, DataDescription& result);

/// Of a table, with molecules or without; `result` has its format already.
void describe_table(const std::filesystem::path& path, const ReadOptions& options, DataDescription& result);
/// Of lines of SMILES or an SDF; likewise.
void describe_molecules(const std::filesystem::path& path, const ReadOptions& options, DataDescription& result);

}  // namespace espalier::data
