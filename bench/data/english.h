/// Statistics of the Universal Dependencies English Web Treebank (Silveira et al., 2014), for generated sentences.
///
/// Counted in en_ewt-ud-train.conllu: 12,544 sentences of 16.3 words on average (deviation 12.4), 19,674 words. 3,504
/// of them occur more than five times; the others are 13.7 % of the running words and have 7.2 characters on average.
/// Within 64 sentences 53 % of the words are distinct.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "bench/data/draws.h"

namespace espalier::bench::english {

inline constexpr std::int32_t kSentences = 12'544;
inline constexpr std::int32_t kWords = 19'674;
inline constexpr std::int32_t kFrequentWords = 3504;
inline constexpr std::int32_t kRareCount = 5;
inline constexpr std::array<Quantile, 11> kLengths{{{0, 1},
                                                    {0.05, 2},
                                                    {0.1, 3},
                                                    {0.25, 7},
                                                    {0.5, 14},
                                                    {0.75, 22},
                                                    {0.9, 31},
                                                    {0.95, 38},
                                                    {0.99, 56},
                                                    {0.999, 85},
                                                    {1, 159}}};

inline Shares word_shares() { return zipf(kWords, 2, 1.09); }

inline std::filesystem::path file_in(const std::filesystem::path& folder) {
  return folder / "ud_english_ewt/en_ewt-ud-train.conllu.gz";
}

}  // namespace espalier::bench::english
