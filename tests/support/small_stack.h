/// A stack as small as usual, whatever this machine's limit is.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <string>

namespace espalier::testing {

/// Runs `code` in a thread with a stack of 8 MB.
inline void on_8_megabytes(const std::function<void()>& code) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{8} << 20), 0);
  std::string thrown;
  std::function<void()> body = [&] {
    try {
      code();
    } catch (const std::exception& error) {
      thrown = error.what();
    }
  };
  pthread_t thread{};
  const auto call = [](void* function) -> void* {
    (*static_cast<std::function<void()>*>(function))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, call, &body), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(thrown, "");
}

}  // namespace espalier::testing
