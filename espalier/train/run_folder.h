/// RunFolder: the folder of one training run, locked against a second one. Internal.
#pragma once

#include <filesystem>

namespace espalier::train {

class RunFolder {
 public:
  /// Makes the folder if it is missing, proves that files can be written there, locks it, and removes temporary files
  /// of processes that were killed. Refuses (ResourceError) a folder that another run uses, naming its process: the
  /// lock goes with its process, however that ends. An empty path: a run without a folder, for which all this does
  /// nothing.
  explicit RunFolder(std::filesystem::path folder);
  /// Gives the lock up. A folder that it made and that is still empty goes too.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  bool exists() const { return !folder_.empty(); }
  const std::filesystem::path& path() const { return folder_; }
  const std::filesystem::path& checkpoint() const { return checkpoint_; }
  const std::filesystem::path& best() const { return best_; }

 private:
  void lock();
  void remove_leftovers() const;

  std::filesystem::path folder_;
  std::filesystem::path checkpoint_;
  std::filesystem::path best_;
  std::filesystem::path lock_path_;
  int lock_ = -1;
  bool made_ = false;
};

}  // namespace espalier::train
