/// Sentiment trees and word lattices from data that is not part of the project: the folder that the environment's
/// ESPALIER_DATA names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "tests/batch/workloads.h"

namespace espalier::batch {

/// Where a file of the data folder is; empty where there is no such folder or file.
inline std::filesystem::path data_file(std::string_view name) {
  const char* folder = std::getenv("ESPALIER_DATA");  // NOLINT(concurrency-mt-unsafe): tests set no variables
  if (folder == nullptr) return {};
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

/// One tree a line, as the Penn Treebank writes them: "(3 (2 It) (4 works))". Inner nodes have two children.
inline std::vector<BinaryTree> read_trees(const std::filesystem::path& path) {
  std::vector<BinaryTree> trees;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    BinaryTree tree;
    std::vector<std::vector<std::int32_t>> open;  // the children so far of each node not closed yet
    for (char c : line) {
      if (c == '(') open.emplace_back();
      if (c != ')') continue;
      const std::vector<std::int32_t> children = open.back();
      open.pop_back();
      tree.push_back(children.size() == 2 ? std::array{children[0], children[1]} : std::array{-1, -1});
      if (!open.empty()) open.back().push_back(static_cast<std::int32_t>(tree.size()) - 1);
    }
    if (!tree.empty()) trees.push_back(tree);
  }
  return trees;
}

/// The characters of UTF-8 text, each as its bytes.
inline std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  for (char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (!continues || characters.empty()) characters.emplace_back();
    characters.back() += c;
  }
  return characters;
}

/// Sentences of "character label" lines with an empty line after each, and in them every word of two characters or more
/// from a lexicon of "word frequency tag" lines.
inline std::vector<Lattice> read_lattices(const std::filesystem::path& sentences,
                                          const std::filesystem::path& lexicon) {
  std::unordered_set<std::string> words;
  std::size_t longest = 0;
  std::ifstream lexicon_file(lexicon);
  for (std::string line; std::getline(lexicon_file, line);) {
    const std::string word = line.substr(0, line.find(' '));
    const std::size_t length = characters_of(word).size();
    if (length < 2) continue;
    words.insert(word);
    longest = std::max(longest, length);
  }

  std::vector<Lattice> lattices;
  std::vector<std::string> characters;
  const auto finish_sentence = [&] {
    Lattice lattice;
    lattice.characters = static_cast<std::int32_t>(characters.size());
    for (std::size_t end = 2; end <= characters.size(); ++end) {
      std::string word = characters[end - 1];
      for (std::size_t length = 2; length <= std::min(longest, end); ++length) {
        word.insert(0, characters[end - length]);
        if (words.contains(word))
          lattice.words.push_back({static_cast<std::int32_t>(end - length), static_cast<std::int32_t>(end)});
      }
    }
    if (!characters.empty()) lattices.push_back(lattice);
    characters.clear();
  };
  std::ifstream sentences_file(sentences);
  for (std::string line; std::getline(sentences_file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty())
      finish_sentence();
    else
      characters.push_back(line.substr(0, line.find(' ')));
  }
  finish_sentence();
  return lattices;
}

}  // namespace espalier::batch
