/// Reading whole files, and writing them whole or not at all.
#include "espalier/base/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "espalier/base/error.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string pattern = (fs::path(::testing::TempDir()) / "espalier_files_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Files() override { fs::remove_all(folder_); }

  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

template <class Action>
std::string refusal_of(Action&& action) {
  try {
    action();
  } catch (const ResourceError& error) {
    return error.what();
  }
  return "nothing was refused";
}

// While it lives, no file of this process can grow beyond `bytes`: what a full disk looks like to a writer.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    previous_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &previous_);
    rlimit limit = previous_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &previous_);
    std::signal(SIGXFSZ, previous_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit previous_{};
  void (*previous_handler_)(int) = nullptr;
};

TEST_F(Files, WhatIsWrittenIsRead) {
  const std::string bytes("a\0b\n\xff", 5);
  write_file_atomically(folder_ / "x", bytes);
  EXPECT_EQ(read_file(folder_ / "x"), bytes);
  write_file_atomically(folder_ / "x", "");
  EXPECT_EQ(read_file(folder_ / "x"), "");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, LargeFilesInManyPiecesAreWhole) {
  std::string expected;
  AtomicFile file(folder_ / "x");
  for (int i = 0; i < 2000; ++i) {
    const std::string piece(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
    file.write(piece);
    expected += piece;
  }
  const std::string large(1 << 20, 'z');
  file.write(large);
  file.write("end");
  file.commit();
  EXPECT_EQ(read_file(folder_ / "x"), expected + large + "end");
}

TEST_F(Files, ReadingSaysWhyItCannot) {
  const std::string missing = (folder_ / "missing").string();
  EXPECT_EQ(refusal_of([&] { read_file(missing); }), "cannot read \"" + missing + "\": No such file or directory");
  EXPECT_EQ(refusal_of([&] { read_file(folder_); }), "cannot read \"" + folder_.string() + "\": Is a directory");
}

TEST_F(Files, FilesWhoseSizeIsNotKnownAreReadToTheirEnd) { EXPECT_FALSE(read_file("/proc/self/status").empty()); }

TEST_F(Files, TheOldFileStaysUntilCommit) {
  write_file_atomically(folder_ / "x", "old");
  {
    AtomicFile file(folder_ / "x");
    file.write("new");
    EXPECT_EQ(read_file(folder_ / "x"), "old");
  }
  EXPECT_EQ(read_file(folder_ / "x"), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, NothingCanBeWrittenAfterCommit) {
  AtomicFile file(folder_ / "x");
  file.commit();
  EXPECT_THROW(file.write("more"), UsageError);
  EXPECT_THROW(file.commit(), UsageError);
}

TEST_F(Files, AFullDiskLeavesTheOldFileAndNothingElse) {
  const std::string path = (folder_ / "x").string();
  write_file_atomically(path, "old");
  const std::string large(1 << 20, 'z');
  std::string at_once;
  std::string in_pieces;
  std::string folder;
  {
    const FileSizeLimit limit(1000);
    at_once = refusal_of([&] { write_file_atomically(path, large); });
    in_pieces = refusal_of([&] {
      AtomicFile file(path);
      for (int i = 0; i < 2000; ++i) file.write("z");
      file.commit();
    });
    folder = refusal_of([&] { ensure_writable_folder(folder_); });
  }
  EXPECT_EQ(at_once, "cannot write \"" + path + "\": File too large");
  EXPECT_EQ(in_pieces, at_once);
  EXPECT_EQ(folder, "cannot write into folder \"" + folder_.string() + "\": File too large");
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, DevicesAreWrittenInPlace) {
  write_file_atomically("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  ensure_writable_file("/dev/null");
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  EXPECT_EQ(refusal_of([] { write_file_atomically("/dev/full", "text"); }),
            "cannot write \"/dev/full\": No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(Files, LinksAndPermissionsAreKept) {
  write_file_atomically(folder_ / "x", "old");
  fs::permissions(folder_ / "x", fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  fs::create_symlink("x", folder_ / "link");
  write_file_atomically(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "x"), "new");
  EXPECT_EQ(fs::status(folder_ / "x").permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);

  fs::create_symlink("later", folder_ / "dangling");
  write_file_atomically(folder_ / "dangling", "there");
  EXPECT_TRUE(fs::is_symlink(folder_ / "dangling"));
  EXPECT_EQ(read_file(folder_ / "later"), "there");
}

TEST_F(Files, NewFilesFollowTheUmask) {
  const mode_t previous = ::umask(027);
  write_file_atomically(folder_ / "x", "");
  ::umask(previous);
  EXPECT_EQ(static_cast<unsigned>(fs::status(folder_ / "x").permissions()), 0640u);
}

TEST_F(Files, WritingSaysWhyItCannot) {
  write_file_atomically(folder_ / "x", "");
  const std::string below = (folder_ / "x" / "y").string();
  const std::string nowhere = (folder_ / "none" / "y").string();
  EXPECT_EQ(refusal_of([&] { AtomicFile file(below); }), "cannot write \"" + below + "\": Not a directory");
  EXPECT_EQ(refusal_of([&] { AtomicFile file(nowhere); }),
            "cannot write \"" + nowhere + "\": No such file or directory");
  EXPECT_EQ(refusal_of([&] { AtomicFile file(folder_); }), "cannot write \"" + folder_.string() + "\": Is a directory");
  EXPECT_EQ(refusal_of([] { AtomicFile file(""); }), "cannot write \"\": No such file or directory");
}

TEST_F(Files, NamesAsLongAsTheyCanBeAreWritten) {
  const std::string name(255, 'n');
  write_file_atomically(folder_ / name, "text");
  EXPECT_EQ(read_file(folder_ / name), "text");
}

TEST_F(Files, FoldersAreMadeAndChecked) {
  ensure_writable_folder(folder_ / "a" / "b");
  EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b"));
  EXPECT_TRUE(fs::is_empty(folder_ / "a" / "b"));
  ensure_writable_folder(folder_ / "a" / "b");
  ensure_writable_file(folder_ / "c" / "weights");
  EXPECT_TRUE(fs::is_empty(folder_ / "c"));

  write_file_atomically(folder_ / "x", "");
  const std::string below = (folder_ / "x" / "y").string();
  EXPECT_EQ(refusal_of([&] { ensure_writable_folder(below); }),
            "cannot make folder \"" + below + "\": Not a directory");
  const std::string file = (folder_ / "x").string();
  EXPECT_EQ(refusal_of([&] { ensure_writable_folder(file); }), "cannot make folder \"" + file + "\": Not a directory");
  const std::string folder = (folder_ / "c").string();
  EXPECT_EQ(refusal_of([&] { ensure_writable_file(folder); }), "cannot write \"" + folder + "\": Is a directory");
}

TEST_F(Files, AFolderThatCannotBeWrittenIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "permissions do not bind root";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(refusal_of([&] { ensure_writable_folder(folder_); }),
            "cannot write into folder \"" + folder_.string() + "\": Permission denied");
  fs::permissions(folder_, fs::perms::owner_all);
}

TEST_F(Files, AWriteProtectedFileIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "permissions do not bind root";
  const std::string path = (folder_ / "x").string();
  write_file_atomically(path, "old");
  fs::permissions(path, fs::perms::owner_read);
  const std::string expected = "cannot write \"" + path + "\": Permission denied";
  EXPECT_EQ(refusal_of([&] { write_file_atomically(path, "new"); }), expected);
  EXPECT_EQ(refusal_of([&] { ensure_writable_file(path); }), expected);
  EXPECT_EQ(read_file(path), "old");
}

}  // namespace
}  // namespace espalier
