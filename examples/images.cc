/// A classifier of images, as flat as they come: no trees and no sequences, two layers over all pixels. The images are
/// digits as pocket calculators show them, moved, uneven, and drowned in noise.
#include <espalier/blocks.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace esp = espalier;
namespace b = espalier::blocks;

namespace {

constexpr std::int32_t kSize = 12;

struct Image {
  std::vector<float> pixels = std::vector<float>(kSize * kSize);
  std::int32_t digit = 0;

  void brighten(std::int64_t x, std::int64_t y, double by) {
    pixels[static_cast<std::size_t>(y * kSize + x)] += static_cast<float>(by);
  }
};

/// One of the seven strokes of a display: where it begins, and whether it goes across or down.
struct Stroke {
  int x, y;
  bool across;
};
constexpr std::array<Stroke, 7> kStrokes{
    {{0, 0, true}, {0, 0, false}, {4, 0, false}, {0, 4, true}, {0, 4, false}, {4, 4, false}, {0, 8, true}}};
/// Bit i: the digit has stroke i.
constexpr std::array<int, 10> kDigits{0b1110111, 0b0100100, 0b1011101, 0b1101101, 0b0101110,
                                      0b1101011, 0b1111011, 0b0100101, 0b1111111, 0b1101111};

Image draw(esp::Random& random) {
  Image image;
  image.digit = static_cast<std::int32_t>(random.below(10));
  const std::int64_t right = random.below(kSize - 5);
  const std::int64_t down = random.below(kSize - 9);
  for (std::size_t i = 0; i < kStrokes.size(); ++i) {
    if ((kDigits[static_cast<std::size_t>(image.digit)] >> i & 1) == 0) continue;
    const Stroke& stroke = kStrokes[i];
    for (int step = 0; step <= 4; ++step)
      image.brighten(right + stroke.x + (stroke.across ? step : 0), down + stroke.y + (stroke.across ? 0 : step),
                     random.uniform(0.6, 1));
  }
  for (float& pixel : image.pixels) pixel += static_cast<float>(0.2 * random.normal());
  return image;
}

std::vector<Image> images(esp::Random& random, int count) {
  std::vector<Image> result;
  for (int i = 0; i < count; ++i) result.push_back(draw(random));
  return result;
}

double share_right(const b::Program& program, const std::vector<Image>& set) {
  double right = 0;
  std::size_t i = 0;
  for (const b::Result& result : b::stream(program, set)) {
    const auto scores = result.leaf().as<float>();
    right += std::ranges::max_element(scores) - scores.begin() == set[i++].digit ? 1 : 0;
  }
  return right / static_cast<double>(set.size());
}

void show(const Image& image) {
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    std::putchar(image.pixels[i] > 0.7F ? '#' : image.pixels[i] > 0.3F ? '+' : ' ');
    if ((i + 1) % kSize == 0) std::putchar('\n');
  }
}

}  // namespace

int main() {
  esp::Model model;
  const b::Block scores =
      b::get(&Image::pixels) >> b::vector(kSize * kSize) >> esp::nn::Mlp(model / "classify", {kSize * kSize, 64, 10});
  const b::Program answers(scores);
  const b::Program losses(b::all_of({scores, b::get(&Image::digit)}) >> esp::cross_entropy >> b::loss("digit"));

  esp::Random random(7);
  const std::vector<Image> held_out = images(random, 500);
  show(held_out[0]);
  std::printf("before: %5.1f %% of images right\n", 100 * share_right(answers, held_out));
  esp::optim::Adam adam(model, {.learning_rate = 3e-3});
  for (int step = 0; step < 1000; ++step) {
    esp::Graph g;
    losses.loss(g, images(random, 64)).backward();
    adam.step();
  }
  const double right = share_right(answers, held_out);
  std::printf("after:  %5.1f %%\n", 100 * right);
  if (right > 0.95) return 0;
  std::puts("more than 95 % are expected");
  return 1;
}
