// What a failed rank's end says beyond its code: its last words, and whether memory was
// the cause.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hyperopt {

// The end of the file, at most `limit` bytes; "" where it can not be read.
std::string TailOf(const std::string& path, size_t limit);

// Valid UTF-8: what is not, is replaced.
std::string CleanUtf8(std::string_view text);

// Whether the words of a program tell that a device's memory was full (PyTorch, JAX,
// TensorFlow, CUDA).
bool SaysDeviceMemory(std::string_view words);

// Whether the words of a program tell that one of its workers was killed, as a leader
// says it that outlives its workers and ends with a code of its own.
bool SaysKilledWorker(std::string_view words);

// Counts the kernel's OOM kills where this process may see them: in its own cgroup,
// else on the whole machine.
class OomWatch {
 public:
  OomWatch();
  // Counts in a file of the kernel's form: lines of a name, a blank and a number.
  explicit OomWatch(std::string path);
  // Takes the count as it is now for "before".
  void Look();
  // Whether a process was killed since the last Look or Rose (then it looks too);
  // nullopt where nothing can be seen.
  std::optional<bool> Rose();

 private:
  std::optional<int64_t> Count() const;

  std::string path_;
  std::optional<int64_t> last_;
};

}  // namespace hyperopt
