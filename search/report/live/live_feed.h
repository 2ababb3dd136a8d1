// A sweep's report that follows its record: versions of the data, and what changed
// between them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace hyperopt {

// The data of one version of a report: ReportJson's text. Throws Error where the record
// can not be read.
class LiveSource {
 public:
  virtual ~LiveSource() = default;
  // Differs whenever Read may give something else. Never throws, and costs nothing.
  virtual std::string Stamp() = 0;
  virtual std::string Read() = 0;
};

// Of "whole" and "delta" the text is JSON on one line; "trouble" says why there is
// nothing to show, and is a version like the others.
struct FeedMessage {
  uint64_t version = 0;
  std::string kind;
  std::shared_ptr<const std::string> text;
};

struct FeedPace {
  // Between two looks at whether the record has changed.
  std::chrono::milliseconds look{250};
  // After a reading at least this, and so many times the processor time that it took: a
  // long record must not keep a core busy. At most `at_most`.
  std::chrono::milliseconds rest{1000};
  int pause = 3;
  // What runs is drawn up to now: read again after so long, changed or not.
  std::chrono::milliseconds at_most{15000};
};

// Reads while someone listens, in a thread of its own. Next may be called from any
// thread.
class LiveFeed {
 public:
  LiveFeed(std::unique_ptr<LiveSource> source, FeedPace pace = {});
  ~LiveFeed();

  // What brings one who has version `have` (0: none) to the newest; waits for one up to
  // `wait`. nullopt where none came, or the feed is closed.
  std::optional<FeedMessage> Next(uint64_t have, std::chrono::milliseconds wait);
  // Wakes everyone; Next gives nothing any more.
  void Close();
  bool closed() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Data;

  void Follow();
  bool Look();
  void Publish(std::string text);
  void ForgetOldDeltas();
  void Complain(const std::string& why);
  std::optional<FeedMessage> MessageFor(uint64_t have) const;

  // The follower's alone.
  std::unique_ptr<LiveSource> source_;
  FeedPace pace_;
  std::string stamp_;
  Clock::time_point read_at_{};
  std::unique_ptr<Data> data_;  // what is in `newest_`, parsed

  mutable std::mutex mutex_;  // all below
  std::condition_variable changed_;
  bool closed_ = false;
  Clock::time_point asked_{};  // when someone listened last
  FeedMessage newest_;         // "whole" or "trouble"; version 0: nothing was read yet
  std::deque<FeedMessage> deltas_;  // the last, each from the version before its own

  std::thread follower_;
};

}  // namespace hyperopt
