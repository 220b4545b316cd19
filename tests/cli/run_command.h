/// Runs the built command as a user would and keeps what it says.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace espalier::testing {

struct CommandResult {
  int code = -1;  // of the exit; 128 and the signal if one ended it
  std::string out;
  std::string error;
};

struct CommandOptions {
  std::string program = ESPALIER_COMMAND;
  std::string threads = "2";  // ESPALIER_THREADS
  /// Where standard output goes, if it is not kept.
  std::string out_path{};
  /// The largest file it can write, in bytes: what a full disk is like, but with another reason. 0: any.
  rlim_t largest_file = 0;
  /// As a user who may not write everywhere, where we are the one who may.
  bool unprivileged = false;
  /// If given: gets SIGINT when this file is there.
  std::string interrupt_when{};
};

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// `folder` takes what it writes to its standard streams.
inline CommandResult run_command(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
                                 const CommandOptions& options = {}) {
  constexpr int kNotStarted = 127;
  constexpr unsigned kNobody = 65534;
  const std::string out = options.out_path.empty() ? (folder / "stdout").string() : options.out_path;
  const std::string error = (folder / "stderr").string();
  std::vector<char*> argv{const_cast<char*>(options.program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  const pid_t child = fork();
  if (child == 0) {
    const int out_file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int error_file = open(error.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (out_file < 0 || error_file < 0 || dup2(out_file, 1) < 0 || dup2(error_file, 2) < 0) _exit(kNotStarted);
    setenv("ESPALIER_THREADS", options.threads.c_str(), 1);
    setenv("LC_ALL", "C", 1);
    if (options.largest_file > 0) {
      const rlimit limit{options.largest_file, options.largest_file};
      if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(kNotStarted);
      signal(SIGXFSZ, SIG_IGN);
    }
    if (options.unprivileged && geteuid() == 0 &&
        (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0))
      _exit(kNotStarted);
    execv(options.program.c_str(), argv.data());
    _exit(kNotStarted);
  }
  CommandResult result;
  int status = 0;
  if (child > 0 && !options.interrupt_when.empty()) {
    while (!std::filesystem::exists(options.interrupt_when) && waitpid(child, &status, WNOHANG) == 0) usleep(1000);
    kill(child, SIGINT);
  }
  if (child > 0 && waitpid(child, &status, 0) == child)
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (options.out_path.empty()) result.out = content_of(out);
  result.error = content_of(error);
  return result;
}

}  // namespace espalier::testing
