#include "executors/internal/line_follower.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace hyperopt::internal {
namespace {

constexpr size_t kShown = 256;
constexpr size_t kKeptBuffer = 256 << 10;
constexpr size_t kWatchedStart = 1 << 10;

}  // namespace

LineFollower::LineFollower(std::filesystem::path file,
                           const SourceId& source,
                           LineEnds ends)
    : file_(std::move(file)), ends_(ends) {
  position_.source = source;
}

void LineFollower::Seek(const SourceOffset& to) {
  position_ = to;
  fd_.Reset();
  buffer_.clear();
  searched_ = 0;
  skipped_ = 0;
  // Where more follows the place there was a newline before it, if the file is the
  // same.
  after_newline_ = watches_start_ && to.offset > 0;
  start_.clear();
}

bool LineFollower::StartIsSame() {
  if (!watches_start_ || position_.offset == 0) return true;
  std::string now(start_.empty() ? std::min<size_t>(position_.offset, kWatchedStart)
                                 : start_.size(),
                  '\0');
  const ssize_t got = pread(fd_.get(), now.data(), now.size(), 0);
  now.resize(std::max<ssize_t>(got, 0));
  if (start_.empty()) start_ = now;
  return now == start_;
}

void LineFollower::NextGeneration() {
  SourceOffset next;
  next.source = position_.source;
  ++next.source.generation;
  Seek(next);
}

bool LineFollower::Look(int64_t& size, bool& is_new_generation) {
  struct stat info {};
  for (int tries = 0; tries < 3; ++tries) {
    if (!fd_) {
      fd_.Reset(open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
      if (!fd_ || fstat(fd_.get(), &info) != 0) return false;
    } else if (stat(file_.c_str(), &info) != 0) {
      return false;  // between a remove and a create, perhaps
    }
    if (!S_ISREG(info.st_mode)) return false;
    if (position_.inode == 0) {
      position_.device = info.st_dev;
      position_.inode = info.st_ino;
    }
    const bool is_same =
        position_.device == info.st_dev && position_.inode == info.st_ino;
    size = info.st_size;
    if (is_same && size >= read_upto() && StartIsSame()) return true;
    NextGeneration();
    is_new_generation = true;
  }
  return false;
}

bool LineFollower::Fill(int64_t bytes, bool& is_other_file) {
  // One byte before, which must be the newline that was there: a file cut to nothing
  // and written past the old place between two looks does not look shorter.
  const bool checks = after_newline_ && buffer_.empty() && skipped_ == 0;
  const int64_t lead = checks ? 1 : 0;
  const size_t old_size = buffer_.size();
  buffer_.resize(old_size + lead + bytes);
  const ssize_t got = pread(fd_.get(),
                            buffer_.data() + old_size,
                            lead + bytes,
                            position_.offset + skipped_ + old_size - lead);
  const bool is_gone =
      checks && (got < 1 || (buffer_[old_size] != '\n' && buffer_[old_size] != '\r'));
  if (is_gone) {
    is_other_file = true;
    buffer_.clear();
    return false;
  }
  buffer_.resize(old_size + std::max<ssize_t>(got, 0));
  if (checks) buffer_.erase(0, 1);
  return got > lead;
}

void LineFollower::TakeLines(const std::function<void(const Line&)>& visit,
                             bool& has_lines) {
  const char* ends = ends_ == LineEnds::kNewline ? "\n" : "\r\n";
  size_t start = 0;
  for (;;) {
    const size_t from = std::max(start, searched_);
    const size_t end = ends_ == LineEnds::kNewline ? buffer_.find('\n', from)
                                                   : buffer_.find_first_of(ends, from);
    if (end == buffer_.npos) break;
    const int64_t end_offset = position_.offset + skipped_ + (end + 1 - start);
    const bool too_long = skipped_ > 0 || end - start > kLongestLine;
    const std::string_view text =
        skipped_ > 0 ? std::string_view(skipped_start_)
                     : std::string_view(buffer_).substr(start, end - start);
    if (watches_start_ && position_.offset == 0) {
      start_ = std::string(text.substr(0, kWatchedStart - 1));
    }
    visit({text, end_offset, too_long});
    has_lines = true;
    position_.offset = end_offset;
    skipped_ = 0;
    after_newline_ = true;
    start = end + 1;
  }
  buffer_.erase(0, start);
  if (buffer_.size() > kLongestLine) {
    if (skipped_ == 0) skipped_start_ = buffer_.substr(0, kShown);
    skipped_ += static_cast<int64_t>(buffer_.size());
    buffer_.clear();
  }
  if (buffer_.empty() && buffer_.capacity() > kKeptBuffer) buffer_ = {};
  searched_ = buffer_.size();
}

void LineFollower::TakeRest(const std::function<void(const Line&)>& visit,
                            bool& has_lines) {
  if (buffer_.empty() && skipped_ == 0) return;
  const int64_t end_offset = read_upto();
  visit({skipped_ > 0 ? skipped_start_ : buffer_, end_offset, skipped_ > 0});
  has_lines = true;
  position_.offset = end_offset;
  after_newline_ = false;
  buffer_.clear();
  searched_ = 0;
  skipped_ = 0;
}

LineFollower::Progress LineFollower::Read(
    ReadMode mode, int64_t max_bytes, const std::function<void(const Line&)>& visit) {
  constexpr int64_t kChunk = 64 << 10;
  Progress progress;
  int64_t size = 0;
  bool is_new_generation = false;
  const int64_t old_offset = position_.offset;
  if (!Look(size, is_new_generation)) return {is_new_generation, false, 0};
  int64_t left = std::max<int64_t>(max_bytes, 1);
  bool has_lines = false;
  while (left > 0 && read_upto() < size) {
    const int64_t before = read_upto();
    bool is_other_file = false;
    if (!Fill(std::min({left, kChunk, size - before}), is_other_file)) {
      // The lines of one Read are of one generation; the next finds out again.
      if (!is_other_file || has_lines) break;
      NextGeneration();
      is_new_generation = true;
      if (!Look(size, is_new_generation)) break;
      continue;
    }
    left -= read_upto() - before;
    TakeLines(visit, has_lines);
  }
  progress.more = read_upto() < size && (left <= 0 || has_lines);
  if (mode == ReadMode::kToTheEnd && !progress.more) TakeRest(visit, has_lines);
  progress.something = has_lines || is_new_generation || progress.more;
  progress.from = is_new_generation ? 0 : old_offset;
  return progress;
}

}  // namespace hyperopt::internal
