// What a search file puts around the command of every trial: setup, wrapper, container,
// tracker, and how it shares a machine with others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hyperopt {

enum class Engine { kNone, kDocker, kPodman };
enum class Tracker { kNone, kWandb, kMlflow };

struct Container {
  Engine engine = Engine::kNone;
  std::string image;
  std::vector<std::string> options;  // further words of `docker run`, before the image
  bool operator==(const Container&) const = default;
};

struct Surroundings {
  // Lines for bash, run once an executor; every trial starts from the environment that
  // they leave. Nothing is put into them. "" for none.
  std::string setup;
  std::vector<std::string> wrapper;  // templates; words before the command's
  Container container;
  Tracker tracker = Tracker::kNone;
  bool pin_cpus = false;
  int64_t gpu_memory = 0;  // bytes that must be free on each device; 0: not looked at
  bool operator==(const Surroundings&) const = default;
};

}  // namespace hyperopt
