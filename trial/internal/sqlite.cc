#include "trial/internal/sqlite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cassert>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

// A path as a URI, in which only what can not be mistaken stays as it is.
std::string ImmutableUri(const std::filesystem::path& path) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 128 && (std::isalnum(byte) || strchr("/-_.", c));
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri + "?immutable=1";
}

int Flags(OpenHow how) {
  constexpr int kOneThread = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (how) {
    case OpenHow::kCreate:
      return kOneThread | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case OpenHow::kReadWrite:
      return kOneThread | SQLITE_OPEN_READWRITE;
    case OpenHow::kReadOnly:
      return kOneThread | SQLITE_OPEN_READONLY;
    case OpenHow::kImmutable:
      return kOneThread | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }
  return kOneThread;
}

std::string DamagedText(const std::filesystem::path& path, std::string_view found) {
  return fmt::format(
      "{0}: the record is damaged ({1}). Keep a copy of the folder first; then\n"
      "  sqlite3 '{0}' .recover | sqlite3 recovered.db\n"
      "saves what can still be read, and --fresh starts the sweep over in a new "
      "folder.",
      path.string(),
      found);
}

// What went wrong and what to do about it, by SQLite's primary result code.
std::string Explain(int code, int system_errno) {
  const bool no_space = system_errno == ENOSPC || system_errno == EDQUOT;
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "the disk is full. Free space; nothing recorded is lost, and the sweep "
             "goes on by itself once it can write, or when it is started again";
    case SQLITE_IOERR:
      if (no_space) return Explain(SQLITE_FULL, 0);
      return "the disk reports an error. Nothing recorded so far is lost; look at the "
             "kernel's log (dmesg) and start the sweep again once it is cured";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another program holds the record locked. Close it (an open sqlite3 "
             "shell with a transaction?); the sweep goes on by itself then";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "it can not be written. Check the owner and mode of the file and of its "
             "folder, and whether the disk is mounted read-only";
    case SQLITE_CANTOPEN:
      return "it, or a file beside it, can not be opened. Check the owner and mode of "
             "the file and of its folder; where the folder can not be written, copy it "
             "to a place that can";
    default:
      return "this is not expected; please report it";
  }
}

std::string ErrorText(const std::filesystem::path& path, sqlite3* handle) {
  const int code = sqlite3_extended_errcode(handle);
  const std::string words = sqlite3_errmsg(handle);
  if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB) {
    return DamagedText(path, words);
  }
  const int system_errno = sqlite3_system_errno(handle);
  std::string cause = fmt::format("sqlite: {}, code {}", words, code);
  if (system_errno != 0) cause += fmt::format(", {}", std::strerror(system_errno));
  return fmt::format("{}: {} ({}).", path.string(), Explain(code, system_errno), cause);
}

void RollBack(const Database& database) {
  if (!database.InTransaction()) return;
  sqlite3_exec(database.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace

bool HasWal(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path.string() + "-wal", error);
  return !error && size > 0;
}

OpenHow HowToRead(const std::filesystem::path& path) {
  const bool may_write = access(path.parent_path().c_str(), W_OK) == 0;
  return may_write || HasWal(path) ? OpenHow::kReadOnly : OpenHow::kImmutable;
}

Database::Database(std::filesystem::path path, OpenHow how) : path_(std::move(path)) {
  const std::string name =
      how == OpenHow::kImmutable ? ImmutableUri(path_) : absolute(path_).string();
  if (sqlite3_open_v2(name.c_str(), &handle_, Flags(how), nullptr) != SQLITE_OK) {
    const std::string text = ErrorText(path_, handle_);
    sqlite3_close(handle_);
    throw EnvironmentError(text);
  }
}

Database::~Database() {
  begin_.reset();
  commit_.reset();
  sqlite3_close(handle_);
}

void Database::Execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    Throw();
  }
}

int64_t Database::ReadInteger(const std::string& sql) {
  int64_t value = 0;
  Statement(*this, sql).ForEach([&](RowReader row) {
    value = row.Integer();
    return false;
  });
  return value;
}

std::string Database::ReadText(const std::string& sql) {
  std::string value;
  Statement(*this, sql).ForEach([&](RowReader row) {
    value = row.Text();
    return false;
  });
  return value;
}

void Database::Begin() {
  if (!begin_) begin_ = std::make_unique<Statement>(*this, "BEGIN IMMEDIATE");
  begin_->Run();
}

void Database::Commit() {
  if (!commit_) commit_ = std::make_unique<Statement>(*this, "COMMIT");
  commit_->Run();
}

bool Database::InTransaction() const { return sqlite3_get_autocommit(handle_) == 0; }

void Database::Throw() const { throw EnvironmentError(ErrorText(path_, handle_)); }

void Database::ThrowDamaged(std::string_view found) const {
  throw EnvironmentError(
      DamagedText(path_, fmt::format("unexpected \"{}\"", found.substr(0, 80))));
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.Begin();
}

Transaction::~Transaction() { RollBack(database_); }

void Transaction::Commit() { database_.Commit(); }

ReadTransaction::ReadTransaction(Database& database) : database_(database) {
  database_.Execute("BEGIN");
}

ReadTransaction::~ReadTransaction() { RollBack(database_); }

int64_t RowReader::Integer() { return sqlite3_column_int64(statement_, column_++); }

int32_t RowReader::Integer32() {
  const int64_t value = Integer();
  if (value < INT32_MIN || value > INT32_MAX) {
    database_->ThrowDamaged(fmt::format("{}", value));
  }
  return static_cast<int32_t>(value);
}

double RowReader::Real() { return sqlite3_column_double(statement_, column_++); }

std::string_view RowReader::Text() {
  if (sqlite3_column_type(statement_, column_) == SQLITE_BLOB) {
    const auto* bytes =
        static_cast<const char*>(sqlite3_column_blob(statement_, column_));
    const int count = sqlite3_column_bytes(statement_, column_++);
    if (bytes == nullptr) return {};
    return {bytes, static_cast<size_t>(count)};
  }
  // The order matters: the text call may convert, and only then is the length right.
  const auto* text =
      reinterpret_cast<const char*>(sqlite3_column_text(statement_, column_));
  const int size = sqlite3_column_bytes(statement_, column_++);
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(size)};
}

std::optional<std::string_view> RowReader::OptionalText() {
  if (sqlite3_column_type(statement_, column_) == SQLITE_NULL) {
    ++column_;
    return std::nullopt;
  }
  return Text();
}

std::optional<int64_t> RowReader::OptionalInteger() {
  if (sqlite3_column_type(statement_, column_) == SQLITE_NULL) {
    ++column_;
    return std::nullopt;
  }
  return Integer();
}

Objective RowReader::Number() {
  Objective number;
  number.value = Real();
  number.kind = Word(NumberKindFromString);
  return number;
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  if (sqlite3_prepare_v3(database.handle(),
                         sql.data(),
                         static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT,
                         &statement_,
                         nullptr) != SQLITE_OK) {
    database.Throw();
  }
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::BindInteger(int64_t value) {
  if (sqlite3_bind_int64(statement_, next_++, value) != SQLITE_OK) database_.Throw();
}

void Statement::Bind(double value) {
  if (sqlite3_bind_double(statement_, next_++, value) != SQLITE_OK) database_.Throw();
}

void Statement::Bind(NullIfZero value) {
  value.value == 0 ? BindNull() : Bind(value.value);
}

void Statement::Bind(std::string_view text) {
  // A null pointer would bind NULL; an empty text is a text.
  const char* data = text.data() == nullptr ? "" : text.data();
  const auto size = static_cast<sqlite3_uint64>(text.size());
  if (sqlite3_bind_text64(
          statement_, next_++, data, size, SQLITE_STATIC, SQLITE_UTF8) != SQLITE_OK) {
    database_.Throw();
  }
}

void Statement::Bind(Blob blob) {
  const void* data = blob.bytes.empty() ? "" : blob.bytes.data();
  const auto size = static_cast<sqlite3_uint64>(blob.bytes.size());
  if (sqlite3_bind_blob64(statement_, next_++, data, size, SQLITE_STATIC) !=
      SQLITE_OK) {
    database_.Throw();
  }
}

void Statement::Bind(const Objective& number) {
  number.finite() ? Bind(number.value) : BindNull();
  Bind(ToString(number.kind));
}

void Statement::BindNull() {
  if (sqlite3_bind_null(statement_, next_++) != SQLITE_OK) database_.Throw();
}

bool Statement::Step() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_.Throw();
  return code == SQLITE_ROW;
}

void Statement::RunToEnd() {
  assert(next_ - 1 == sqlite3_bind_parameter_count(statement_));
  const Resetter resetter{*this};
  while (Step()) {
  }
}

void Statement::Reset() { sqlite3_reset(statement_); }

void SyncFile(const std::filesystem::path& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || fsync(fd.get()) != 0) ThrowFileError(path, "cannot be synced", errno);
}

}  // namespace hyperopt
