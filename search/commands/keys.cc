#include "search/commands/keys.h"

#include <cstdio>

#include "executors/messages.h"
#include "executors/transport.h"
#include "trial/text.h"

namespace hyperopt {

int KeygenCommand(const KeygenOptions& options) {
  WriteNewKeyFile(options.file);
  const std::string word = QuoteShellWord(options.file.string());
  std::printf(
      "%s: new keys, readable by you alone. Copy the file to each machine that runs\n"
      "an executor, and give it to both sides:\n"
      "  hyperopt --config search.yaml --listen tcp://0.0.0.0:7777 --key %s\n"
      "  hyperopt executor --connect tcp://HOST:7777 --key %s\n",
      options.file.c_str(),
      word.c_str(),
      word.c_str());
  return 0;
}

int VersionCommand() {
  std::printf("hyperopt %s (protocol %d)\n", HYPEROPT_VERSION, kProtocolVersion);
  return 0;
}

}  // namespace hyperopt
