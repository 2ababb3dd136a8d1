// What joins a logger's process to the controller beside which it stands.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

namespace hyperopt {

class LoggerLife {
 public:
  // Listens to stdin in a thread that lives as long as the process, which it ends:
  // without a word when the controller is gone, and with that of `missing`, which is
  // called there, once the time at the end is over. So nothing that its work waits for,
  // a server say, keeps it. REQUIRES: one object in a process.
  explicit LoggerLife(std::function<std::string()> missing);

  // Whether the sweep is over.
  bool ending() const;
  // Until then, if it is not over yet; else at most a second.
  void Sleep(double seconds);
  // A line for a person, after `mark`.
  void Tell(char mark, const std::string& line) const;

 private:
  void Listen();
  void AwaitDeadline(double seconds);

  const std::function<std::string()> missing_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
};

}  // namespace hyperopt
