#include "search/internal/live_block.h"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>

#include "search/format.h"

namespace hyperopt::internal {

TerminalSize SizeOfTerminal(int fd) {
  winsize window{};
  TerminalSize size;
  if (ioctl(fd, TIOCGWINSZ, &window) != 0) return size;
  if (window.ws_col > 0) size.columns = window.ws_col;
  if (window.ws_row > 0) size.rows = window.ws_row;
  return size;
}

std::string LiveBlock::Erase(const TerminalSize& size) {
  if (widths_.empty()) return "";
  // A terminal made narrower since has wrapped the lines: count the rows they take now.
  size_t rows = 0;
  for (size_t width : widths_) {
    rows += width == 0 ? 1 : (width + size.columns - 1) / size.columns;
  }
  widths_.clear();
  return fmt::format("\r\x1b[{}A\x1b[J", std::min(rows, size.rows));
}

std::string LiveBlock::Draw(const std::vector<std::string>& lines,
                            const TerminalSize& size) {
  std::string text = Erase(size);
  for (const std::string& line : lines) {
    if (widths_.size() + 1 >= size.rows) break;
    text += line + "\n";
    widths_.push_back(DisplayWidth(line));
  }
  return text;
}

std::string LiveBlock::Above(const std::string& line, const TerminalSize& size) {
  return Erase(size) + line + "\n";
}

}  // namespace hyperopt::internal
