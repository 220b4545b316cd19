/// The CoNLL-U format of Universal Dependencies: ten columns a word, an empty line after each sentence.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace espalier::bench {

struct ConlluWord {
  std::string form;
  std::string tag;        // of the universal ones
  std::int32_t head = 0;  // from 1; 0 is no word: this is the root
  std::string relation;
};

/// Sentence after sentence, without multi-word tokens ("3-4") and empty nodes ("8.1"). Refuses (DataError) a line with
/// other columns, numbers out of order, and heads that make no tree with one root.
void read_conllu(const std::filesystem::path& path, const std::function<void(const std::vector<ConlluWord>&)>& take);

}  // namespace espalier::bench
