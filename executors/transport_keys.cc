#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "executors/internal/zmq_sockets.h"
#include "executors/transport.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

constexpr size_t kKeyLength = 40;  // of a Z85 key: 32 bytes
constexpr std::string_view kComment =
    "# Keys of a hyperopt controller and its executors. Whoever has this file can run\n"
    "# programs on every executor: keep it to yourself (mode 0600), and give a copy "
    "to\n"
    "# each executor by a safe way.\n";

struct NamedKey {
  std::string_view name;
  std::string KeyFile::*key;
};
constexpr std::array<NamedKey, 4> kKeys = {
    {{"server_public", &KeyFile::server_public},
     {"server_secret", &KeyFile::server_secret},
     {"client_public", &KeyFile::client_public},
     {"client_secret", &KeyFile::client_secret}}};

void NewPair(std::string& public_key, std::string& secret_key) {
  std::array<char, kKeyLength + 1> public_text{};
  std::array<char, kKeyLength + 1> secret_text{};
  if (zmq_curve_keypair(public_text.data(), secret_text.data()) != 0) {
    throw EnvironmentError(fmt::format("no key pair: {}", zmq_strerror(zmq_errno())));
  }
  public_key = public_text.data();
  secret_key = secret_text.data();
}

bool ArePair(const std::string& public_key, const std::string& secret_key) {
  if (public_key.size() != kKeyLength || secret_key.size() != kKeyLength) return false;
  std::array<uint8_t, 32> bytes{};
  std::array<char, kKeyLength + 1> derived{};
  return zmq_z85_decode(bytes.data(), public_key.c_str()) != nullptr &&
         zmq_z85_decode(bytes.data(), secret_key.c_str()) != nullptr &&
         zmq_curve_public(derived.data(), secret_key.c_str()) == 0 &&
         public_key == derived.data();
}

// Refuses a file that others can read or that somebody else could change under us.
void RequirePrivate(const std::filesystem::path& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    throw ConfigError(
        fmt::format("{}: {} (`hyperopt keygen {}` makes a key file)",
                    path.native(),
                    std::error_code(errno, std::generic_category()).message(),
                    QuoteShellWord(path.native())));
  }
  if (!S_ISREG(info.st_mode)) {
    throw ConfigError(fmt::format("{}: not a file", path.native()));
  }
  if ((info.st_mode & 077) != 0) {
    throw ConfigError(
        fmt::format("{}: others can read or change this key file (mode "
                    "{:04o}); `chmod 600 {}`, and make new keys if "
                    "somebody may have read them",
                    path.native(),
                    info.st_mode & 07777,
                    QuoteShellWord(path.native())));
  }
  if (info.st_uid != geteuid() && info.st_uid != 0 && geteuid() != 0) {
    throw ConfigError(
        fmt::format("{}: belongs to user {}, not to you", path.native(), info.st_uid));
  }
}

KeyFile ParseKeys(const std::filesystem::path& path, std::string_view text) {
  KeyFile keys;
  while (!text.empty()) {
    const std::string_view line = Trim(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), text.find('\n')));
    if (!text.empty()) text.remove_prefix(1);
    const size_t blank = line.find(' ');
    if (line.empty() || line[0] == '#' || blank == line.npos) continue;
    for (const NamedKey& named : kKeys) {
      if (line.substr(0, blank) == named.name) {
        keys.*named.key = Trim(line.substr(blank + 1));
      }
    }
  }
  const bool fine = ArePair(keys.server_public, keys.server_secret) &&
                    ArePair(keys.client_public, keys.client_secret);
  if (!fine) {
    throw ConfigError(fmt::format(
        "{}: not a key file of hyperopt, or a damaged one; `hyperopt keygen` makes one",
        path.native()));
  }
  return keys;
}

}  // namespace

void WriteNewKeyFile(const std::filesystem::path& path) {
  internal::RequireCurve();
  KeyFile keys;
  NewPair(keys.server_public, keys.server_secret);
  NewPair(keys.client_public, keys.client_secret);
  std::string text(kComment);
  for (const NamedKey& named : kKeys) {
    text += fmt::format("{} {}\n", named.name, keys.*named.key);
  }
  const UniqueFd file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file && errno == EEXIST) {
    throw ConfigError(fmt::format(
        "{}: is there already and is not written over; name another file, or remove it",
        path.native()));
  }
  if (!file) ThrowFileError(path, "can not be made", errno);
  const bool written = write(file.get(), text.data(), text.size()) ==
                           static_cast<ssize_t>(text.size()) &&
                       fsync(file.get()) == 0;
  if (!written) {
    const int why = errno;
    unlink(path.c_str());
    ThrowFileError(path, "can not be written", why);
  }
}

KeyFile ReadKeyFile(const std::filesystem::path& path) {
  RequirePrivate(path);
  const auto text = ReadFile(path);
  if (!text) throw ConfigError(fmt::format("{}: no such file", path.native()));
  return ParseKeys(path, *text);
}

}  // namespace hyperopt
