// A small SQLite database of another program: written whole, or read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace hyperopt {

// NULL, INTEGER, REAL, TEXT.
using DbCell = std::variant<std::monostate, int64_t, double, std::string>;
using DbRow = std::vector<DbCell>;

int64_t IntegerOf(const DbCell& cell);   // 0 for what is none
double RealOf(const DbCell& cell);       // NaN for what is none
std::string TextOf(const DbCell& cell);  // "" for what is none

// Every failure is an EnvironmentError that names the file.
class ForeignDb {
 public:
  enum class How { kCreate, kReadOnly };
  ForeignDb(const std::filesystem::path& path, How how);
  ~ForeignDb();

  // One or more statements without parameters.
  void Execute(const std::string& sql);
  // One statement with its parameters, for as many rows as there are.
  void RunEach(const std::string& sql, const std::vector<DbRow>& rows);
  void Run(const std::string& sql, const DbRow& row) { RunEach(sql, {row}); }
  std::vector<DbRow> Query(const std::string& sql);
  bool HasTable(const std::string& name);

 private:
  struct Connection;
  const std::unique_ptr<Connection> connection_;
};

}  // namespace hyperopt
