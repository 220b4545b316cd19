#include "espalier/data/proto_writer.h"

#include <gtest/gtest.h>

#include <string>

#include "espalier/data/proto_wire.h"

namespace espalier::data {
namespace {

TEST(ProtoWriter, WritesTheBytesOfTheSpecification) {
  // The examples of "Encoding" in protobuf's documentation: a = 150, b = "testing", and a message with a = 150.
  EXPECT_EQ(ProtoWriter().integer(1, 150).finish(), "\x08\x96\x01");
  EXPECT_EQ(ProtoWriter().bytes(2, "testing").finish(), "\x12\x07testing");
  EXPECT_EQ(ProtoWriter().message(3, ProtoWriter().integer(1, 150)).finish(), "\x1a\x03\x08\x96\x01");
  EXPECT_EQ(ProtoWriter().integer(1, -2).finish(), "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  EXPECT_EQ(ProtoWriter().number(1, 1.0F).finish(), std::string("\x0d\x00\x00\x80\x3f", 5));
  EXPECT_EQ(ProtoWriter().number(1, 2.0).finish(), std::string("\x09\x00\x00\x00\x00\x00\x00\x00\x40", 9));
}

TEST(ProtoWriter, IsReadBackByTheReader) {
  const std::string bytes = ProtoWriter().integer(7, 1'234'567'890'123).bytes(20, std::string(300, 'x')).finish();
  const ProtoWire wire(bytes, "test");
  std::string_view rest = bytes;
  ProtoTag tag = wire.take_tag(rest);
  EXPECT_EQ(tag.number, 7U);
  EXPECT_EQ(tag.type, WireType::kVarint);
  EXPECT_EQ(wire.take_varint(rest), 1'234'567'890'123U);
  tag = wire.take_tag(rest);
  EXPECT_EQ(tag.number, 20U);
  EXPECT_EQ(tag.type, WireType::kLengthDelimited);
  EXPECT_EQ(wire.take_delimited(rest), std::string(300, 'x'));
  EXPECT_TRUE(rest.empty());
}

}  // namespace
}  // namespace espalier::data
