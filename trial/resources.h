// Amounts of CPU and GPU in millionths, so that sums are exact: 0.1 + 0.2 is 0.3.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hyperopt {

class Share {
 public:
  static constexpr int64_t kWhole = 1'000'000;
  constexpr Share() = default;
  static constexpr Share Micro(int64_t micro) { return Share(micro); }
  static constexpr Share Whole(int64_t n) { return Share(n * kWhole); }
  // Rounded to the nearest millionth; REQUIRES |value| < 9e12.
  static Share Of(double value);
  constexpr int64_t micro() const { return micro_; }
  constexpr double AsDouble() const { return static_cast<double>(micro_) / kWhole; }
  constexpr auto operator<=>(const Share&) const = default;
  constexpr Share operator+(Share o) const { return Share(micro_ + o.micro_); }
  constexpr Share operator-(Share o) const { return Share(micro_ - o.micro_); }
  constexpr Share& operator+=(Share o) {
    micro_ += o.micro_;
    return *this;
  }
  constexpr Share& operator-=(Share o) {
    micro_ -= o.micro_;
    return *this;
  }
  constexpr Share operator*(int64_t n) const { return Share(micro_ * n); }
  // "2", "0.25"
  std::string ToText() const;

 private:
  constexpr explicit Share(int64_t micro) : micro_(micro) {}
  int64_t micro_ = 0;
};

// What one trial needs. Its ranks share the CPUs and memory out evenly; a rank gets
// `gpu_per_rank` of one device, or so many whole devices.
struct ResourceRequest {
  int ranks = 1;                 // at least 1; placed all or none
  Share cpus = Share::Whole(1);  // of all ranks together
  Share gpu_per_rank;            // below 1: a part of one device; else whole devices
  bool hide_gpus = false;  // an explicit 0: CUDA_VISIBLE_DEVICES is set to nothing
  int64_t memory = 0;      // bytes, all ranks together; 0 = not counted
  // Bytes that the driver must see free on each device; 0 = not looked at.
  int64_t gpu_memory = 0;
  bool operator==(const ResourceRequest&) const = default;
};

// "8GiB", "512MB", "1.5G" (powers of 1024 for K, M, G, T with or without iB; of 1000
// with B alone), a plain number is bytes. nullopt where it is no size.
std::optional<int64_t> ParseSize(std::string_view text);
std::string SizeToText(int64_t bytes);  // "8 GiB"

}  // namespace hyperopt
