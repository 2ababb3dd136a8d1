// The tables of a record, and how a record of an older version becomes one of today's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trial/internal/sqlite.h"

namespace hyperopt {

// "HyOp": tells a record from any other SQLite file, also to file(1).
constexpr int64_t kApplicationId = 0x48794f70;

// One step from version `from` to `from` + 1, run in a transaction of its own.
struct UpgradeStep {
  int from = 0;
  std::string sql;
};

// A version of the record. The version is the database's user_version.
struct Schema {
  int version = 0;
  std::string create_sql;             // makes an empty record of this version
  std::vector<UpgradeStep> upgrades;  // by `from`, without gaps up to `version`
};

// Today's. Each change raises the version, adds one upgrade step, and adds a frozen
// database of the version before to trial/testdata/.
Schema CurrentSchema();

// Makes the tables in an empty database, in one transaction.
void CreateSchema(Database& database, const Schema& schema);

// Throws EnvironmentError where `database` is not a record or of a newer version;
// returns its version.
int CheckVersion(Database& database, const Schema& schema);

// Runs the steps from `version` to the schema's. First keeps a copy as
// "<path>.v<version>.bak" (a whole database, without -wal); a copy left by an upgrade
// that was interrupted is replaced. Killed at any moment, the database is of one
// version or the next, and the next call goes on. Returns the copy's path.
std::string Upgrade(Database& database, const Schema& schema, int version);

}  // namespace hyperopt
