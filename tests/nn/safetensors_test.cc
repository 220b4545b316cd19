/// The safetensors format: what is written, what is read, and everything that is refused.
#include "espalier/nn/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/random.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

class Safetensors : public ::testing::Test {
 protected:
  Safetensors() {
    std::string pattern = (fs::path(::testing::TempDir()) / "espalier_safetensors_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = (folder_ / "x.safetensors").string();
  }
  ~Safetensors() override { fs::remove_all(folder_); }

  static NamedTensors some_tensors() {
    NamedTensors tensors;
    tensors.emplace("cell.W", Tensor(Shape{2, 3}, {1, -2, 3.5F, 0, 1e-40F, std::numeric_limits<float>::infinity()}));
    tensors.emplace("a.double", Tensor::filled({3}, 0.1, DType::kFloat64));
    tensors.emplace("b.int", Tensor::filled({2, 1, 2}, -7, DType::kInt32));
    tensors.emplace("scalar", Tensor::filled({}, 4));
    tensors.emplace("none", Tensor(Shape{0, 5}));
    return tensors;
  }

  static std::string file_of(const std::string& header, const std::string& data) {
    const std::uint64_t length = header.size();
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    return bytes + header + data;
  }

  // Not atomically: that waits for the disk, and thousands of files are written here.
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  void write(const std::string& header, const std::string& data) const { write(file_of(header, data)); }

  /// What the reader says after the path and a colon.
  std::string refusal() const {
    try {
      SafetensorsReader reader(path_);
      return "nothing was refused";
    } catch (const DataError& error) {
      const std::string text = error.what();
      EXPECT_TRUE(text.starts_with(path_ + ": ")) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      return text.substr(std::min(text.size(), path_.size() + 2));
    }
  }
  std::string refusal(const std::string& header, const std::string& data = "") const {
    write(header, data);
    return refusal();
  }
  /// Of a file whose only tensor, of 8 bytes, is described by `entry`.
  std::string refusal_of_entry(const std::string& entry) const {
    return refusal(R"({"t": )" + entry + "}", "12345678");
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(Safetensors, AreReadAsTheyWereWritten) {
  const NamedTensors tensors = some_tensors();
  write_safetensors(path_, tensors, {{"note", "line\n\"two\" \xC3\xA9"}});
  const SafetensorsReader reader(path_);
  EXPECT_THAT(reader.names(), ::testing::ElementsAre("a.double", "b.int", "cell.W", "none", "scalar"));
  for (const auto& [name, tensor] : tensors) {
    EXPECT_TRUE(reader.contains(name));
    EXPECT_EQ(reader.shape(name), tensor.shape());
    EXPECT_EQ(reader.dtype(name), tensor.dtype());
    EXPECT_EQ(reader.read(name), tensor) << name;
  }
  EXPECT_EQ(reader.metadata().at("note"), "line\n\"two\" \xC3\xA9");
  EXPECT_EQ(reader.read_all(), tensors);
  EXPECT_FALSE(reader.contains("W"));
}

TEST_F(Safetensors, OfNothingAreAFileToo) {
  write_safetensors(path_, NamedTensors{});
  EXPECT_EQ(read_file(path_), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  EXPECT_TRUE(SafetensorsReader(path_).names().empty());
}

TEST_F(Safetensors, HaveTheBytesOfTheFormat) {
  NamedTensors tensors;
  tensors.emplace("b", Tensor(Shape{1}, {1}));
  tensors.emplace("a", Tensor::filled({1}, 2, DType::kInt32));
  tensors.emplace("z", Tensor::filled({}, 1, DType::kFloat64));
  write_safetensors(path_, tensors, {{"k", "v"}});
  const std::string header =
      R"({"__metadata__":{"k":"v"},"z":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"I32","shape":[1],"data_offsets":[8,12]},"b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  const std::string data("\0\0\0\0\0\0\xF0\x3F\x02\0\0\0\0\0\x80\x3F", 16);
  EXPECT_EQ(read_file(path_), file_of(header + padding, data));
}

TEST_F(Safetensors, AreTheSameBytesInAnyOrder) {
  const Tensor a(Shape{1}, {1});
  const Tensor b(Shape{1}, {2});
  write_safetensors(path_, std::vector<NamedTensorRef>{{"a", a}, {"b", b}});
  const std::string first = read_file(path_);
  write_safetensors(path_, std::vector<NamedTensorRef>{{"b", b}, {"a", a}});
  EXPECT_EQ(read_file(path_), first);
}

TEST_F(Safetensors, RefuseNamesThatTheFormatCannotHold) {
  const Tensor a(Shape{1});
  const auto refusal_of_writing = [&](const std::vector<NamedTensorRef>& tensors, const Metadata& metadata = {}) {
    try {
      write_safetensors(path_, tensors, metadata);
      return std::string("nothing was refused");
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refusal_of_writing({{"a", a}, {"b", a}, {"a", a}}), "safetensors: the name \"a\" is given twice");
  EXPECT_EQ(refusal_of_writing({{"__metadata__", a}}), "safetensors: the name \"__metadata__\" is not for a tensor");
  EXPECT_EQ(refusal_of_writing({{"\xFF", a}}), "safetensors: names and metadata must be UTF-8 text");
  EXPECT_EQ(refusal_of_writing({{"a", a}}, {{"k", "\xFF"}}), "safetensors: names and metadata must be UTF-8 text");
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Safetensors, HalfFloatsBecomeFloat32) {
  const auto half = [](std::uint16_t bits) {
    return std::string({static_cast<char>(bits & 0xFF), static_cast<char>(bits >> 8)});
  };
  // 1, -2, the largest, the smallest denormal, -0, infinity, and a NaN
  const std::string data =
      half(0x3C00) + half(0xC000) + half(0x7BFF) + half(0x0001) + half(0x8000) + half(0x7C00) + half(0x7E01);
  write(R"({"h":{"dtype":"F16","shape":[7],"data_offsets":[0,14]}})", data);
  const Tensor value = SafetensorsReader(path_).read("h");
  ASSERT_EQ(value.dtype(), DType::kFloat32);
  EXPECT_EQ(value.at(0), 1);
  EXPECT_EQ(value.at(1), -2);
  EXPECT_EQ(value.at(2), 65504);
  EXPECT_EQ(value.at(3), 0x1p-24);
  EXPECT_TRUE(value.at(4) == 0 && std::signbit(value.at(4)));
  EXPECT_EQ(value.at(5), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(value.at(6)));

  write(R"({"h":{"dtype":"BF16","shape":[3],"data_offsets":[0,6]}})", half(0x3F80) + half(0xC0A0) + half(0xFF80));
  EXPECT_EQ(SafetensorsReader(path_).read("h"), Tensor(Shape{3}, {1, -5, -std::numeric_limits<float>::infinity()}));
}

TEST_F(Safetensors, AreReadIntoOtherElementTypes) {
  write_safetensors(path_, some_tensors());
  const SafetensorsReader reader(path_);
  Tensor floats(Shape{3});
  reader.read_into("a.double", floats);
  EXPECT_EQ(floats, Tensor::filled({3}, 0.1));
  Tensor doubles(Shape{2, 1, 2}, DType::kFloat64);
  reader.read_into("b.int", doubles);
  EXPECT_EQ(doubles, Tensor::filled({2, 1, 2}, -7, DType::kFloat64));
  Tensor integers(Shape{3}, DType::kInt32);
  EXPECT_THROW(reader.read_into("a.double", integers), DataError);
  EXPECT_THROW(reader.read_into("cell.W", floats), DataError);
  EXPECT_THROW(reader.read("missing"), DataError);
}

TEST_F(Safetensors, OfOtherElementTypesAreRefusedOnlyWhenRead) {
  write(
      R"({"n":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"x":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
      std::string(12, '\0'));
  const SafetensorsReader reader(path_);
  EXPECT_EQ(reader.read("x").item(), 0);
  try {
    reader.read("n");
    FAIL() << "nothing was refused";
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(),
              path_ + ": tensor \"n\" has element type I64, and only F32, F64, F16, BF16 and I32 can be read");
  }
}

TEST_F(Safetensors, LengthsThatDoNotFitAreRefused) {
  write("1234567");
  EXPECT_EQ(refusal(), "7 bytes are too few for a safetensors file, which begins with a length of 8");
  write("");
  EXPECT_EQ(refusal(), "0 bytes are too few for a safetensors file, which begins with a length of 8");
  write(std::string("\x0A\0\0\0\0\0\0\0{}", 10));
  EXPECT_EQ(refusal(), "a header of 10 bytes is announced, and only 2 bytes follow");
  write(std::string(8, '\xFF') + "{}");
  EXPECT_EQ(refusal(), "a header of 18446744073709551615 bytes is announced, and at most 100000000 are possible");
}

TEST_F(Safetensors, FilesOfAnotherFormatAreRefusedAsSuch) {
  write("{\"weights\": [1, 2, 3]}");
  EXPECT_EQ(
      refusal(),
      "this is not a safetensors file: it begins with \"{\\\"weights\\\": [1, \", and 8 bytes of a length and \"{\" "
      "were expected");
}

TEST_F(Safetensors, HeadersThatAreNotAnObjectOfEntriesAreRefused) {
  EXPECT_EQ(refusal(""), "the header is not JSON from its byte 1 on");
  EXPECT_EQ(refusal("{"), "the header is not JSON from its byte 2 on");
  EXPECT_EQ(refusal("{} x"), "the header is not JSON from its byte 4 on");
  EXPECT_EQ(refusal(R"({"a)"), "the header is not JSON from its byte 4 on");
  EXPECT_EQ(refusal("{\"\xFF\":1}"), "the header is not JSON from its byte 3 on");
  EXPECT_EQ(refusal("[]"), "the header is a list where a JSON object is needed");
  EXPECT_EQ(refusal("3"), "the header is the number 3 where a JSON object is needed");
  EXPECT_EQ(refusal(R"({"t": 3})"), "\"t\" is the number 3 where an object is needed");
  EXPECT_EQ(refusal(R"({"t": []})"), "\"t\" is a list where an object is needed");
  EXPECT_EQ(refusal(R"({"__metadata__": {"k": 3}})"), "metadata \"k\" is the number 3 where a text is needed");
  EXPECT_EQ(refusal(R"({"__metadata__": {"k": {}}})"), "metadata \"k\" is an object where a text is needed");
  EXPECT_EQ(refusal(R"({"__metadata__": "k"})"), "\"__metadata__\" is a text where an object is needed");
}

TEST_F(Safetensors, KeysGivenTwiceAreRefused) {
  const std::string entry = R"({"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(refusal(R"({"t":)" + entry + R"(,"t":)" + entry + "}"), "the header has the key \"t\" twice");
  EXPECT_EQ(refusal(R"({"__metadata__":{},"__metadata__":{}})"), "the header has the key \"__metadata__\" twice");
  EXPECT_EQ(refusal(R"({"__metadata__":{"k":"1","k":"2"}})"), "the metadata have the key \"k\" twice");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]})"),
            "tensor \"t\" has the key \"dtype\" twice");
}

TEST_F(Safetensors, EntriesThatAreNotWellFormedAreRefused) {
  EXPECT_EQ(refusal_of_entry("{}"), "tensor \"t\" has no \"dtype\"");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","data_offsets":[0,8]})"), "tensor \"t\" has no \"shape\"");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[2]})"), "tensor \"t\" has no \"data_offsets\"");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F31","shape":[2],"data_offsets":[0,8]})"),
            "tensor \"t\" has the unknown element type \"F31\"");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":32,"shape":[2],"data_offsets":[0,8]})"),
            "\"dtype\" of tensor \"t\" is the number 32 where a text is needed");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})"),
            "\"shape\" of tensor \"t\" is the number 2 where a list is needed");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[[2]],"data_offsets":[0,8]})"),
            "\"shape\" of tensor \"t\" contains a list where a whole number from 0 is needed");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"),
            "\"shape\" of tensor \"t\" contains the number -2 where a whole number from 0 is needed");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})"),
            "\"shape\" of tensor \"t\" contains the number 2.0 where a whole number from 0 is needed");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[null],"data_offsets":[0,8]})"),
            "\"shape\" of tensor \"t\" contains null where a whole number from 0 is needed");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[1,1,1,1,2],"data_offsets":[0,8]})"),
            "tensor \"t\" has more than 4 axes");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[2147483648],"data_offsets":[0,8]})"),
            "tensor \"t\" has an axis of size 2147483648, and at most 2147483647 is possible");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0]})"),
            "tensor \"t\" has 1 data offsets where two are needed");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4,8]})"),
            "tensor \"t\" has more than two data offsets");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1})"),
            "tensor \"t\" has the unknown key \"more\"");
}

TEST_F(Safetensors, PlacesThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"),
            "tensor \"t\" begins at byte 8, after its end at byte 0");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[4,12]})"),
            "tensor \"t\" ends at byte 12 of the data, and the file has only 8 bytes of it");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})"),
            "tensor \"t\" has 8 bytes, and F32[1] needs 4");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"),
            "the tensors end at byte 4 of the data, and the file has 8 bytes of it");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"),
            "bytes 0 to 3 of the data, before tensor \"t\", belong to no tensor");
  EXPECT_EQ(
      refusal(
          R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
          std::string(12, 'x')),
      "tensors \"a\" and \"b\" overlap: one ends at byte 8, the other begins at byte 4");
  EXPECT_EQ(refusal("{}", "x"), "the tensors end at byte 0 of the data, and the file has 1 bytes of it");
}

TEST_F(Safetensors, HugeShapesAreRefusedWithoutOverflow) {
  const std::string huge = "2147483647,2147483647,2147483647";
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F64","shape":[)" + huge + R"(,2],"data_offsets":[0,8]})"),
            "tensor \"t\" of shape [2147483647, 2147483647, 2147483647, 2] has more elements than a file can hold");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F64","shape":[)" + huge + R"(,0],"data_offsets":[0,0]})"),
            "tensor \"t\" of shape [2147483647, 2147483647, 2147483647, 0] has more elements than a file can hold");
  // 2^32 * 2^32 elements would be 0 bytes in 64 bits.
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[1073741824,1073741824,16],"data_offsets":[0,0]})"),
            "tensor \"t\" of shape [1073741824, 1073741824, 16] has more elements than a file can hold");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8]})"),
            "\"shape\" of tensor \"t\" contains the number 99999999999999999999 where a whole number from 0 is needed");
  EXPECT_EQ(refusal_of_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615]})"),
            "tensor \"t\" ends at byte 18446744073709551615 of the data, and the file has only 8 bytes of it");
}

TEST_F(Safetensors, DeepNestingIsRefused) {
  EXPECT_EQ(refusal(std::string(1000000, '[')), "the header is a list where a JSON object is needed");
  std::string nested = "{";
  for (int i = 0; i < 100000; ++i) nested += "\"a\":{";
  EXPECT_EQ(refusal(nested), "tensor \"a\" has the unknown key \"a\"");
}

TEST_F(Safetensors, LongAndStrangeNamesAreShortenedInMessages) {
  EXPECT_EQ(refusal(R"({"a\nb": 3})"), "\"a\\nb\" is the number 3 where an object is needed");
  EXPECT_EQ(refusal("{\"" + std::string(5000, 'n') + "\": 3}"),
            "\"" + std::string(100, 'n') + "\"... is the number 3 where an object is needed");
}

TEST_F(Safetensors, CutOffAnywhereAreRefused) {
  write_safetensors(path_, some_tensors(), {{"note", "text"}});
  const std::string whole = read_file(path_);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(whole.substr(0, size));
    ASSERT_NE(refusal(), "nothing was refused") << "cut off at byte " << size << " of " << whole.size();
  }
  write(whole + "x");
  EXPECT_NE(refusal(), "nothing was refused");
}

TEST_F(Safetensors, WithChangedBytesAreReadOrRefusedButNeverMore) {
  write_safetensors(path_, some_tensors(), {{"note", "text"}});
  const std::string whole = read_file(path_);
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, whole.data(), 8);
  Random random(1);
  int read = 0;
  int refused = 0;
  for (int round = 0; round < 600; ++round) {
    std::string changed = whole;
    const std::int64_t changes = 1 + random.below(3);
    for (std::int64_t i = 0; i < changes; ++i) {
      const auto at = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(8 + header_bytes)));
      // Half of them stay digits and punctuation, so that many remain JSON.
      changed[at] =
          random.below(2) == 0 ? "0123456789,:[]{}\"- "[random.below(19)] : static_cast<char>(random.below(256));
    }
    write(changed);
    try {
      SafetensorsReader reader(path_);
      for (const std::string& name : reader.names()) {
        try {
          reader.read(name);
        } catch (const DataError&) {  // an element type that cannot be read
        }
      }
      ++read;
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace espalier
