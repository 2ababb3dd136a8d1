// A thin layer over SQLite's C interface: handles that close themselves, statements
// that bind and read by type, and errors that name the file and the way out. Nothing
// here knows what a sweep is, and <sqlite3.h> stays in one source file.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "trial/objective.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hyperopt {

class Statement;

enum class OpenHow {
  kCreate,     // a new file; an existing one is opened
  kReadWrite,  // an existing file
  kReadOnly,
  // Existing, on a medium that nobody can write: no lock is taken and no file beside it
  // is made. Wrong where a writer lives.
  kImmutable,
};

// Whether the log beside a database in WAL mode holds anything.
bool HasWal(const std::filesystem::path& path);

// How to open a record that is only read. Without the right to make files beside it, a
// database in WAL mode can not be read the usual way; with no log beside it nobody
// writes, and it is a plain file.
OpenHow HowToRead(const std::filesystem::path& path);

// One connection. Not thread-safe. Every failure is an EnvironmentError whose text
// names the path, SQLite's own words and what a person can do.
class Database {
 public:
  Database(std::filesystem::path path, OpenHow how);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // Runs one or more statements without parameters and drops their rows.
  void Execute(const std::string& sql);
  // The first column of the first row.
  int64_t ReadInteger(const std::string& sql);
  std::string ReadText(const std::string& sql);
  // BEGIN IMMEDIATE and COMMIT, prepared once; see Transaction.
  void Begin();
  void Commit();
  bool InTransaction() const;

  // Throws the error that the last call on this connection left.
  [[noreturn]] void Throw() const;
  // Throws for a record whose content can not be what was written.
  [[noreturn]] void ThrowDamaged(std::string_view found) const;

  const std::filesystem::path& path() const { return path_; }
  sqlite3* handle() const { return handle_; }

 private:
  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
  std::unique_ptr<Statement> begin_;
  std::unique_ptr<Statement> commit_;
};

// BEGIN IMMEDIATE until Commit; without one, the destructor rolls back. A rollback can
// not fail in a way that matters: SQLite has rolled back by itself where it reports
// one.
class Transaction {
 public:
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void Commit();

 private:
  Database& database_;
};

// A consistent picture over several queries, beside a living writer.
class ReadTransaction {
 public:
  explicit ReadTransaction(Database& database);
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;
  ~ReadTransaction();

 private:
  Database& database_;
};

// Bound as NULL where it is 0: "not yet", which a person can ask for with IS NULL.
struct NullIfZero {
  double value;
};

// Bound as bytes, not as text.
struct Blob {
  std::string_view bytes;
};

// The columns of the current row, read from left to right. Valid until the next step.
class RowReader {
 public:
  RowReader(const Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}

  int64_t Integer();
  int32_t Integer32();      // damaged where it does not fit
  double Real();            // NULL is 0
  std::string_view Text();  // NULL is empty; also the bytes of a BLOB
  std::optional<std::string_view> OptionalText();
  std::optional<int64_t> OptionalInteger();
  // Two columns: value and kind.
  Objective Number();

  [[noreturn]] void ThrowDamaged(std::string_view found) const {
    database_->ThrowDamaged(found);
  }

  // What `from_string` makes of the next column; damaged where it makes nothing.
  template <typename FromString>
  auto Word(FromString from_string) {
    const std::string_view text = Text();
    auto value = from_string(text);
    if (!value) ThrowDamaged(text);
    return *value;
  }

 private:
  const Database* database_;
  sqlite3_stmt* statement_;
  int column_ = 0;
};

// A prepared statement, kept for the life of its connection, which must outlive it.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  // Binds the parameters in order and runs to the end. Texts are bound without a copy:
  // they need to live for the call only.
  template <typename... Args>
  void Run(const Args&... args) {
    next_ = 1;
    (Bind(args), ...);
    RunToEnd();
  }

  // Calls `visit(RowReader)` for each row until it returns false or rows end. Leaves no
  // read transaction open, whatever `visit` throws.
  template <typename Visit, typename... Args>
  void ForEach(const Visit& visit, const Args&... args) {
    next_ = 1;
    (Bind(args), ...);
    const Resetter resetter{*this};
    while (Step() && visit(RowReader(database_, statement_))) {
    }
  }

 private:
  struct Resetter {
    Statement& statement;
    ~Resetter() { statement.Reset(); }
  };

  void BindInteger(int64_t value);
  void Bind(std::integral auto value) { BindInteger(static_cast<int64_t>(value)); }
  void Bind(double value);  // NaN becomes NULL
  void Bind(NullIfZero value);
  void Bind(std::string_view text);
  void Bind(Blob blob);
  void Bind(const std::string& text) { Bind(std::string_view(text)); }
  void Bind(const Objective& number);  // two columns
  template <typename T>
  void Bind(const std::optional<T>& value) {
    value ? Bind(*value) : BindNull();
  }
  void BindNull();
  bool Step();
  void RunToEnd();
  void Reset();

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
};

// fsync of a database file that was built without syncs.
void SyncFile(const std::filesystem::path& path);

}  // namespace hyperopt
