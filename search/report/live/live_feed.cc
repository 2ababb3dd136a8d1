#include "search/report/live/live_feed.h"

#include <time.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "search/report/live/json_delta.h"

namespace hyperopt {
namespace {

using std::chrono::milliseconds;

// Reading goes on so long after the last one has asked.
constexpr milliseconds kListensFor{30'000};
constexpr size_t kMostDeltas = 64;

// What this thread has had of a processor: on a busy machine a reading takes far
// longer, and is no reason to rest.
milliseconds ThreadTime() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace

struct LiveFeed::Data {
  OrderedJson json;
};

LiveFeed::LiveFeed(std::unique_ptr<LiveSource> source, FeedPace pace)
    : source_(std::move(source)),
      pace_(pace),
      data_(std::make_unique<Data>()),
      follower_([this] { Follow(); }) {}

LiveFeed::~LiveFeed() {
  Close();
  follower_.join();
}

void LiveFeed::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool LiveFeed::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::optional<FeedMessage> LiveFeed::Next(uint64_t have, milliseconds wait) {
  std::unique_lock lock(mutex_);
  asked_ = Clock::now();
  changed_.notify_all();
  changed_.wait_for(lock, wait, [&] { return closed_ || MessageFor(have); });
  return closed_ ? std::nullopt : MessageFor(have);
}

std::optional<FeedMessage> LiveFeed::MessageFor(uint64_t have) const {
  if (newest_.version == have) return std::nullopt;
  for (const FeedMessage& delta : deltas_) {
    if (delta.version == have + 1) return delta;
  }
  return newest_;
}

void LiveFeed::Follow() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    changed_.wait(lock, [&] { return closed_ || Clock::now() - asked_ < kListensFor; });
    if (closed_) return;
    lock.unlock();
    const milliseconds began = ThreadTime();
    const bool was_read = Look();
    const milliseconds spent = ThreadTime() - began;
    lock.lock();
    const milliseconds rest =
        std::max(pace_.rest, std::min(spent * pace_.pause, pace_.at_most));
    changed_.wait_for(lock, was_read ? rest : pace_.look, [&] { return closed_; });
  }
}

// Whether the record was read.
bool LiveFeed::Look() {
  const std::string stamp = source_->Stamp();
  const auto now = Clock::now();
  if (stamp == stamp_ && read_at_ != Clock::time_point{} &&
      now - read_at_ < pace_.at_most) {
    return false;
  }
  stamp_ = stamp;
  read_at_ = now;
  try {
    Publish(source_->Read());
  } catch (const std::exception& error) {
    Complain(error.what());
  }
  return true;
}

void LiveFeed::Publish(std::string text) {
  OrderedJson json = ParseJson(text);
  std::string delta;
  if (!data_->json.is_null()) {
    delta = DumpJson(DeltaOf(data_->json, json));
    if (delta == "{}") return;
  }
  data_->json = std::move(json);
  // A delta that is no saving is none: who is behind is sent the whole.
  if (delta.size() > text.size()) delta.clear();
  const std::lock_guard lock(mutex_);
  const uint64_t version = newest_.version + 1;
  newest_ = {version, "whole", std::make_shared<const std::string>(std::move(text))};
  if (delta.empty()) deltas_.clear();
  if (!delta.empty()) {
    deltas_.push_back(
        {version, "delta", std::make_shared<const std::string>(std::move(delta))});
  }
  ForgetOldDeltas();
  changed_.notify_all();
}

// Together they are no more than the whole, which serves as well.
void LiveFeed::ForgetOldDeltas() {
  size_t bytes = 0;
  for (const FeedMessage& delta : deltas_) bytes += delta.text->size();
  while (deltas_.size() > kMostDeltas ||
         (deltas_.size() > 1 && bytes > newest_.text->size())) {
    bytes -= deltas_.front().text->size();
    deltas_.pop_front();
  }
}

void LiveFeed::Complain(const std::string& why) {
  data_->json = nullptr;
  const std::lock_guard lock(mutex_);
  if (newest_.kind == "trouble" && *newest_.text == DumpJson(why)) return;
  newest_ = {newest_.version + 1,
             "trouble",
             std::make_shared<const std::string>(DumpJson(why))};
  deltas_.clear();
  changed_.notify_all();
}

}  // namespace hyperopt
