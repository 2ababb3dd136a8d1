#include "search/internal/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>

#include "search/internal/config/scalar.h"
#include "search/internal/config/text_check.h"

namespace hyperopt::internal {
namespace {

constexpr size_t kDeepest = 64;
// YAML's own limit for a key without a `?`, which JSON's keys are.
constexpr size_t kLongestKey = 1000;
// Bytes that the tree may take, copies made for anchors and aliases counted: above
// what an 8 MiB file of plain values needs, far below what an alias bomb asks for.
constexpr size_t kLargestTree = size_t{512} << 20;

// Ends the reading: nothing after it would mean anything.
struct Failure {
  Place place;
  std::string text;
};

size_t SizeOf(const Value& value) {
  size_t size = sizeof(Value) + value.text.size();
  for (const Value& item : value.items) size += SizeOf(item);
  for (const Entry& entry : value.entries) {
    size += sizeof(Entry) - sizeof(Value) + entry.key.size() + SizeOf(entry.value);
  }
  return size;
}

size_t DepthOf(const Value& value) {
  size_t below = 0;
  for (const Value& item : value.items) below = std::max(below, DepthOf(item));
  for (const Entry& entry : value.entries) {
    below = std::max(below, DepthOf(entry.value));
  }
  return value.is_list() || value.is_map() ? below + 1 : 0;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(int source, Problems& problems) : source_(source), problems_(problems) {}

  Value TakeRoot() { return std::move(root_); }
  // Where the last scalar with quotes (or a tag) starts.
  const std::optional<Place>& last_quoted() const { return last_quoted_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (has_document_) {
      throw Failure{At(mark), "a second document starts here; a search file is one"};
    }
    has_document_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Value value;
    value.place = At(mark);
    Add(std::move(value), anchor, false);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      throw Failure{At(mark), "an alias within the value that it stands for"};
    }
    Spend(SizeOf(found->second), At(mark));
    RequireDepth(frames_.size() + DepthOf(found->second), At(mark));
    Add(found->second, YAML::NullAnchor, false);
  }

  void OnScalar(const YAML::Mark& mark,
                const std::string& tag,
                YAML::anchor_t anchor,
                const std::string& text) override {
    Value value;
    value.place = At(mark);
    value.text = text;
    value.kind = Value::Kind::kString;
    if (text.find('\0') != text.npos) {
      throw Failure{value.place, "a NUL byte, which no program or file name can hold"};
    }
    const bool plain = tag == "?" || tag.empty();
    if (!plain) last_quoted_ = value.place;
    if (plain && !ExpectsKey()) {
      if (const auto problem = ResolvePlain(value)) Tell(value.place, *problem);
    } else if (!plain && tag != "!") {
      Retype(value, tag);
    }
    Add(std::move(value), anchor, plain);
  }

  void OnSequenceStart(const YAML::Mark& mark,
                       const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(Value::Kind::kList, At(mark), tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(Value::Kind::kMap, At(mark), tag, anchor);
  }
  void OnMapEnd() override {
    MergeInherited(frames_.back());
    Close();
  }

 private:
  // A list or map that is not at its end yet.
  struct Frame {
    Value value;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool has_key = false;
    bool key_is_plain = false;
    std::string key;
    Place key_place;
    std::unordered_map<std::string, Place> keys;
    std::vector<Value> inherited;  // the values of `<<`
  };

  Place At(const YAML::Mark& mark) const {
    return {source_, mark.line + 1, mark.column + 1};
  }

  // The dotted name of what is being read.
  std::string Path() const {
    std::string path;
    for (const Frame& frame : frames_) {
      const std::string step =
          frame.value.is_map() ? frame.key : std::to_string(frame.value.items.size());
      path += (path.empty() ? "" : ".") + step;
    }
    return path;
  }

  void Tell(const Place& place, const std::string& text) {
    problems_.Add(place, Path(), text);
  }

  void Spend(size_t bytes, const Place& place) {
    spent_ += bytes;
    if (spent_ <= kLargestTree) return;
    throw Failure{place, "the file grows too large here; are aliases nested?"};
  }

  static void RequireDepth(size_t depth, const Place& place) {
    if (depth <= kDeepest) return;
    throw Failure{place, fmt::format("nested more than {} deep", kDeepest)};
  }

  bool ExpectsKey() const {
    return !frames_.empty() && frames_.back().value.is_map() && !frames_.back().has_key;
  }

  // A tag that was written out: !!str 1, !!float 1.
  void Retype(Value& value, const std::string& tag) {
    constexpr std::string_view kCore = "tag:yaml.org,2002:";
    const std::string name =
        tag.starts_with(kCore) ? "!!" + tag.substr(kCore.size()) : tag;
    if (name == "!!str") return;
    ResolvePlain(value);
    if (name == "!!float" && value.is_number()) {
      value.kind = Value::Kind::kFloat;
      return;
    }
    const bool fits = (name == "!!int" && value.kind == Value::Kind::kInt) ||
                      (name == "!!bool" && value.kind == Value::Kind::kBool) ||
                      (name == "!!null" && value.is_null());
    if (fits) return;
    value.kind = Value::Kind::kBroken;
    Tell(value.place,
         fmt::format("the tag {} can not be used for {}", name, value.text));
  }

  void Open(Value::Kind kind,
            const Place& place,
            const std::string& tag,
            YAML::anchor_t anchor) {
    if (ExpectsKey()) {
      throw Failure{
          place,
          "a map or list stands where a key is expected: a bracket is not closed, or "
          "a text with { or [ lacks its quotes"};
    }
    RequireDepth(frames_.size() + 1, place);
    const bool known = tag.empty() || tag == "?" || tag == "!" ||
                       tag == "tag:yaml.org,2002:map" || tag == "tag:yaml.org,2002:seq";
    if (!known) throw Failure{place, fmt::format("the tag {} can not be used", tag)};
    Frame frame;
    frame.value.kind = kind;
    frame.value.place = place;
    frame.anchor = anchor;
    frames_.push_back(std::move(frame));
  }

  void Close() {
    Value value = std::move(frames_.back().value);
    const YAML::anchor_t anchor = frames_.back().anchor;
    frames_.pop_back();
    Add(std::move(value), anchor, false);
  }

  void Add(Value value, YAML::anchor_t anchor, bool plain) {
    Spend(sizeof(Value) + value.text.size(), value.place);
    if (anchor != YAML::NullAnchor) {
      Spend(SizeOf(value), value.place);
      anchors_[anchor] = value;
    }
    if (frames_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.value.is_list()) {
      frame.value.items.push_back(std::move(value));
    } else if (!frame.has_key) {
      SetKey(frame, value, plain);
    } else {
      SetEntry(frame, std::move(value));
      frame.has_key = false;
    }
  }

  void SetKey(Frame& frame, const Value& key, bool plain) {
    if (!key.is_scalar()) throw Failure{key.place, "a key must be a scalar"};
    if (key.text.size() > kLongestKey) {
      throw Failure{key.place, fmt::format("a key of over {} bytes", kLongestKey)};
    }
    frame.has_key = true;
    frame.key = key.is_null() && key.text.empty() ? "null" : key.text;
    frame.key_place = key.place;
    frame.key_is_plain = plain;
  }

  void SetEntry(Frame& frame, Value value) {
    if (frame.key == "<<" && frame.key_is_plain) {
      Inherit(frame, std::move(value));
      return;
    }
    const auto [first, is_new] = frame.keys.emplace(frame.key, frame.key_place);
    if (!is_new) {
      Tell(frame.key_place,
           fmt::format("the key is there twice; the first is on line {}",
                       first->second.line));
      return;
    }
    Spend(sizeof(Entry) + frame.key.size(), frame.key_place);
    frame.value.entries.push_back({frame.key, frame.key_place, std::move(value)});
  }

  void Inherit(Frame& frame, Value value) {
    std::vector<Value> maps;
    if (value.is_list()) {
      maps = std::move(value.items);
    } else {
      maps.push_back(std::move(value));
    }
    for (Value& map : maps) {
      if (!map.is_map()) {
        Tell(map.place, "<< takes a map, or a list of maps, by alias: `<<: *name`");
        continue;
      }
      frame.inherited.push_back(std::move(map));
    }
  }

  // What `<<` names comes first and yields to the keys that stand beside it; of several
  // maps the earlier wins.
  static void MergeInherited(Frame& frame) {
    if (frame.inherited.empty()) return;
    std::vector<Entry> merged;
    for (Value& map : frame.inherited) {
      for (Entry& entry : map.entries) {
        if (frame.keys.emplace(entry.key, entry.place).second) {
          merged.push_back(std::move(entry));
        }
      }
    }
    std::ranges::move(frame.value.entries, std::back_inserter(merged));
    frame.value.entries = std::move(merged);
  }

  int source_;
  Problems& problems_;
  bool has_document_ = false;
  size_t spent_ = 0;
  std::optional<Place> last_quoted_;
  Value root_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Value> anchors_;
};

// yaml-cpp's words, and what most likely went wrong where they do not say it.
std::string SyntaxText(const std::string& text, const YAML::Exception& error) {
  std::string what = "not valid YAML: " + error.msg;
  const std::string line = LineOf(text, error.mark.line);
  const size_t first = line.find_first_not_of(' ');
  if (first != line.npos && line[first] == '\t') {
    what += "; YAML indents with blanks, never with tabs";
  } else if (line.find("${") != line.npos) {
    what += "; a word with ${...} in a [list] needs quotes: \"${name}\"";
  }
  return what;
}

}  // namespace

std::optional<Value> ParseYaml(const std::string& text,
                               int source,
                               Problems& problems) {
  if (const auto fault = FaultOfText(text)) {
    problems.Add({source, fault->line, fault->column}, "", fault->text);
    return std::nullopt;
  }
  std::istringstream stream(text);
  TreeBuilder builder(source, problems);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    const auto& quoted = builder.last_quoted();
    if (quoted && !IsClosedQuote(text, quoted->line - 1, quoted->column - 1)) {
      throw Failure{*quoted, "not valid YAML: a quote without its partner"};
    }
    return builder.TakeRoot();
  } catch (const Failure& failure) {
    problems.Add(failure.place, "", failure.text);
  } catch (const YAML::Exception& error) {
    const bool placed = !error.mark.is_null();
    problems.Add(
        {source, placed ? error.mark.line + 1 : 0, placed ? error.mark.column + 1 : 0},
        "",
        SyntaxText(text, error));
  }
  return std::nullopt;
}

}  // namespace hyperopt::internal
