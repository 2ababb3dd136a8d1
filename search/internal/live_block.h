// A few lines at the bottom of a terminal that are redrawn in place, and lines that
// scroll above them.
#pragma once

#include <string>
#include <vector>

namespace hyperopt::internal {

struct TerminalSize {
  size_t columns = 80;
  size_t rows = 24;
};
// Of the terminal behind `fd`; 80 x 24 where it does not say.
TerminalSize SizeOfTerminal(int fd);

// Makes the text to write; writes nothing itself. The cursor is never hidden and stands
// below the block, so that a killed program leaves a usable terminal.
class LiveBlock {
 public:
  // Replaces the block. No line may be wider than the terminal.
  std::string Draw(const std::vector<std::string>& lines, const TerminalSize& size);
  // Puts a line above the block, which is gone until the next Draw.
  std::string Above(const std::string& line, const TerminalSize& size);
  // Takes the block away.
  std::string Erase(const TerminalSize& size);

 private:
  std::vector<size_t> widths_;  // of the lines on the screen
};

}  // namespace hyperopt::internal
