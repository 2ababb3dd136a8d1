#include "trial/foreign_sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <limits>

#include "trial/errors.h"

namespace hyperopt {
namespace {

void Bind(sqlite3_stmt* statement, int place, const DbCell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) {
    sqlite3_bind_int64(statement, place, *integer);
  } else if (const auto* real = std::get_if<double>(&cell)) {
    sqlite3_bind_double(statement, place, *real);
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    sqlite3_bind_text(statement,
                      place,
                      text->data(),
                      static_cast<int>(text->size()),
                      SQLITE_TRANSIENT);
  } else {
    sqlite3_bind_null(statement, place);
  }
}

DbCell Read(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return static_cast<int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_NULL:
      return std::monostate();
    default:
      return std::string(
          reinterpret_cast<const char*>(sqlite3_column_text(statement, column)),
          static_cast<size_t>(sqlite3_column_bytes(statement, column)));
  }
}

}  // namespace

int64_t IntegerOf(const DbCell& cell) {
  const auto* integer = std::get_if<int64_t>(&cell);
  return integer == nullptr ? 0 : *integer;
}

double RealOf(const DbCell& cell) {
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* integer = std::get_if<int64_t>(&cell)) {
    return static_cast<double>(*integer);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::string TextOf(const DbCell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? "" : *text;
}

struct ForeignDb::Connection {
  std::filesystem::path path;
  sqlite3* handle = nullptr;

  ~Connection() { sqlite3_close(handle); }
  void Check(int code) const {
    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
    throw EnvironmentError(
        fmt::format("{}: SQLite says: {}",
                    path.string(),
                    handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle)));
  }
};

namespace {

// Ends with its scope.
class Prepared {
 public:
  Prepared(sqlite3* handle, const std::string& sql, int* code) {
    *code = sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement_, nullptr);
  }
  ~Prepared() { sqlite3_finalize(statement_); }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  sqlite3_stmt* get() const { return statement_; }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace

ForeignDb::ForeignDb(const std::filesystem::path& path, How how)
    : connection_(std::make_unique<Connection>()) {
  connection_->path = path;
  const int flags = how == How::kCreate ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                        : SQLITE_OPEN_READONLY;
  connection_->Check(
      sqlite3_open_v2(path.c_str(), &connection_->handle, flags, nullptr));
  sqlite3_busy_timeout(connection_->handle, 10'000);
}

ForeignDb::~ForeignDb() = default;

void ForeignDb::Execute(const std::string& sql) {
  connection_->Check(
      sqlite3_exec(connection_->handle, sql.c_str(), nullptr, nullptr, nullptr));
}

void ForeignDb::RunEach(const std::string& sql, const std::vector<DbRow>& rows) {
  int code = SQLITE_OK;
  const Prepared prepared(connection_->handle, sql, &code);
  connection_->Check(code);
  for (const DbRow& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      Bind(prepared.get(), static_cast<int>(i) + 1, row[i]);
    }
    connection_->Check(sqlite3_step(prepared.get()));
    sqlite3_reset(prepared.get());
  }
}

std::vector<DbRow> ForeignDb::Query(const std::string& sql) {
  int code = SQLITE_OK;
  const Prepared prepared(connection_->handle, sql, &code);
  connection_->Check(code);
  std::vector<DbRow> rows;
  while ((code = sqlite3_step(prepared.get())) == SQLITE_ROW) {
    DbRow row;
    for (int i = 0; i < sqlite3_column_count(prepared.get()); ++i) {
      row.push_back(Read(prepared.get(), i));
    }
    rows.push_back(std::move(row));
  }
  connection_->Check(code);
  return rows;
}

bool ForeignDb::HasTable(const std::string& name) {
  for (const DbRow& row :
       Query("SELECT name FROM sqlite_master WHERE type = 'table'")) {
    if (TextOf(row[0]) == name) return true;
  }
  return false;
}

}  // namespace hyperopt
