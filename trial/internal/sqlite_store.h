// What tests may choose of a SQLite store; everybody else calls OpenSqliteStore.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "trial/internal/sqlite_schema.h"
#include "trial/store.h"

namespace hyperopt {

struct SqliteOptions {
  Schema schema = CurrentSchema();
  bool network_file_system = false;
  int64_t max_pages = 0;  // 0: no limit. A full database fails as a full disk does
};

std::unique_ptr<TrialStore> OpenSqliteStore(const std::filesystem::path& path,
                                            StoreMode mode,
                                            const SqliteOptions& options);

}  // namespace hyperopt
