// TensorBoard's event files: records of a length, its checksum, the event, its
// checksum.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "executors/internal/crc32c.h"
#include "executors/internal/line_reader.h"
#include "executors/internal/tensorboard_event.h"
#include "executors/report_reader.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

constexpr int64_t kHeader = 12;             // length and its checksum
constexpr int64_t kFooter = 4;              // the event's checksum
constexpr int64_t kLongestEvent = 1 << 20;  // longer ones are images and the like

uint32_t Fixed32(std::string_view bytes) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}
uint64_t Fixed64(std::string_view bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

class TensorboardReader final : public ReportReader {
 public:
  TensorboardReader(std::filesystem::path file, const SourceId& source)
      : file_(std::move(file)) {
    position_.source = source;
  }

  std::optional<SourceRead> Read(ReadMode, int64_t max_bytes) override {
    SourceRead read;
    int64_t size = 0;
    const int32_t generation = position_.source.generation;
    if (!Look(size)) return std::nullopt;
    const bool is_new = position_.source.generation != generation;
    const int64_t from = position_.offset;
    while (position_.offset - from < max_bytes && TakeRecord(size, read)) {
    }
    read.more = position_.offset - from >= max_bytes && position_.offset < size;
    if (position_.offset == from && !is_new && !read.oddities.any()) {
      return std::nullopt;
    }
    read.from = from;
    read.upto = position_;
    return read;
  }

  void Seek(const SourceOffset& to) override {
    position_ = to;
    fd_.Reset();
    is_damaged_ = false;
  }
  const SourceOffset& position() const override { return position_; }

 private:
  bool Look(int64_t& size) {
    struct stat info {};
    if (stat(file_.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
    if (position_.inode == 0) {
      position_.device = info.st_dev;
      position_.inode = info.st_ino;
    }
    const bool is_same =
        position_.device == info.st_dev && position_.inode == info.st_ino;
    if (!is_same || info.st_size < position_.offset) {
      SourceOffset next;
      next.source = position_.source;
      ++next.source.generation;
      next.device = info.st_dev;
      next.inode = info.st_ino;
      Seek(next);
    }
    if (!fd_) fd_.Reset(open(file_.c_str(), O_RDONLY | O_CLOEXEC));
    size = info.st_size;
    return static_cast<bool>(fd_);
  }

  // False where there is no whole record (yet).
  bool TakeRecord(int64_t size, SourceRead& read) {
    if (is_damaged_ || size - position_.offset < kHeader) return false;
    if (!Fill(kHeader)) return false;
    const std::string_view header(buffer_);
    // Room that was made before it is written to reads as zeros.
    if (header.find_first_not_of('\0') == header.npos) return false;
    const uint64_t length = Fixed64(header);
    if (internal::MaskedCrc32c(header.substr(0, 8)) != Fixed32(header.substr(8))) {
      is_damaged_ = true;
      CountDamage(read);
      return false;
    }
    const uint64_t left = static_cast<uint64_t>(size - position_.offset - kHeader);
    if (length > left || left - length < static_cast<uint64_t>(kFooter)) return false;
    const int64_t whole = kHeader + static_cast<int64_t>(length) + kFooter;
    if (static_cast<int64_t>(length) <= kLongestEvent) {
      if (!Fill(whole)) return false;
      TakeEvent(std::string_view(buffer_).substr(kHeader), whole, read);
    }
    position_.offset += whole;
    return true;
  }

  void TakeEvent(std::string_view record, int64_t whole, SourceRead& read) {
    const std::string_view event = record.substr(0, record.size() - kFooter);
    if (internal::MaskedCrc32c(event) != Fixed32(record.substr(event.size()))) {
      CountDamage(read);
      return;
    }
    bool damaged = false;
    std::optional<ReportLine> report = internal::ScalarsOfEvent(event, &damaged);
    if (damaged) CountDamage(read);
    if (!report) return;
    report->end_offset = position_.offset + whole;
    read.lines.push_back(*std::move(report));
  }

  void CountDamage(SourceRead& read) {
    internal::CountOdd(&Oddities::binary,
                       std::string(kReaderSays) + "a record of " +
                           position_.source.name + " is damaged",
                       read.oddities);
  }

  bool Fill(int64_t bytes) {
    buffer_.resize(bytes);
    return pread(fd_.get(), buffer_.data(), bytes, position_.offset) == bytes;
  }

  const std::filesystem::path file_;
  UniqueFd fd_;
  SourceOffset position_;  // after the last whole record
  std::string buffer_;
  bool is_damaged_ = false;  // behind here nothing can be read
};

}  // namespace

std::unique_ptr<ReportReader> NewTensorboardReader(const std::filesystem::path& file,
                                                   const SourceId& source) {
  return std::make_unique<TensorboardReader>(file, source);
}

}  // namespace hyperopt
