// What each kind of domain does, one class a kind with the same methods; trial/space.cc
// picks the class. The contracts are those of the functions of trial/space.h.
//
// An object refers to its domain, which must outlive it, and is made for one call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trial/internal/cells.h"
#include "trial/internal/step_grid.h"
#include "trial/space.h"

namespace hyperopt::internal {

class FloatRules {
 public:
  static std::optional<std::string> Problem(const FloatDomain& domain);
  explicit FloatRules(const FloatDomain& domain);

  ParamValue FromUnit(double u) const;
  ParamValue Draw(Rng& rng) const;
  std::optional<double> ToUnit(const ParamValue& value) const;
  std::optional<int64_t> Cardinality() const;
  ParamValue ValueAt(int64_t index) const;
  std::string Describe() const;

 private:
  double Continuous(double u) const;
  std::optional<double> StepToUnit(double value) const;
  LogScale StepScale() const;
  uint64_t last() const { return static_cast<uint64_t>(last_); }

  const FloatDomain& domain_;
  std::optional<StepGrid> grid_;  // where there is a step
  int64_t last_ = 0;              // the grid's
};

class IntRules {
 public:
  static std::optional<std::string> Problem(const IntDomain& domain);
  explicit IntRules(const IntDomain& domain);

  ParamValue FromUnit(double u) const;
  ParamValue Draw(Rng& rng) const;
  std::optional<double> ToUnit(const ParamValue& value) const;
  std::optional<int64_t> Cardinality() const;
  ParamValue ValueAt(int64_t index) const;
  std::string Describe() const;

 private:
  int64_t At(uint64_t k) const;
  LogScale CellScale() const;

  const IntDomain& domain_;
  uint64_t last_;  // the number of the last value, counted from lower in steps
};

class NormalRules {
 public:
  static std::optional<std::string> Problem(const NormalDomain& domain);
  explicit NormalRules(const NormalDomain& domain) : domain_(domain) {}

  ParamValue FromUnit(double u) const;
  ParamValue Draw(Rng& rng) const { return FromUnit(rng.Uniform()); }
  std::optional<double> ToUnit(const ParamValue& value) const;
  std::optional<int64_t> Cardinality() const { return std::nullopt; }
  // Never called, as there is no cardinality.
  ParamValue ValueAt(int64_t index) const;
  std::string Describe() const;

 private:
  double Cdf(double x) const;
  StepGrid Multiples() const;

  const NormalDomain& domain_;
};

// Categories and grids.
class ListRules {
 public:
  static std::optional<std::string> Problem(std::span<const ParamValue> values);
  ListRules(std::string_view word, std::span<const ParamValue> values)
      : word_(word), values_(values) {}

  ParamValue FromUnit(double u) const;
  ParamValue Draw(Rng& rng) const;
  std::optional<double> ToUnit(const ParamValue& value) const;
  std::optional<int64_t> Cardinality() const { return std::ssize(values_); }
  ParamValue ValueAt(int64_t index) const;
  std::string Describe() const;

 private:
  std::string_view word_;  // what Describe begins with
  std::span<const ParamValue> values_;
};

}  // namespace hyperopt::internal
