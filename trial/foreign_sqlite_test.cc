#include "trial/foreign_sqlite.h"

#include <doctest/doctest.h>

#include <cmath>

#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

TEST_SUITE("another program's SQLite") {
  TEST_CASE("what is written is read, by type") {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("hyperopt " + RandomHex(8) + ".db");
    {
      ForeignDb db(file, ForeignDb::How::kCreate);
      db.Execute("CREATE TABLE t (a, b, c, d); BEGIN");
      db.RunEach("INSERT INTO t VALUES (?, ?, ?, ?)",
                 {{int64_t{1} << 60, 0.1, std::string("it's"), std::monostate()},
                  {int64_t{2}, std::nan(""), std::string("\xff"), std::monostate()}});
      db.Execute("COMMIT");
    }
    ForeignDb db(file, ForeignDb::How::kReadOnly);
    CHECK(db.HasTable("t"));
    CHECK_FALSE(db.HasTable("u"));
    const std::vector<DbRow> rows = db.Query("SELECT * FROM t");
    REQUIRE(rows.size() == 2);
    CHECK(IntegerOf(rows[0][0]) == int64_t{1} << 60);
    CHECK(RealOf(rows[0][1]) == 0.1);
    CHECK(TextOf(rows[0][2]) == "it's");
    CHECK(TextOf(rows[0][3]).empty());
    CHECK(std::isnan(RealOf(rows[1][1])));  // SQL has none: NULL
    CHECK_THROWS_AS(db.Execute("INSERT INTO t VALUES (1, 2, 3, 4)"), EnvironmentError);
    CHECK_THROWS_AS(db.Query("SELECT x FROM t"), EnvironmentError);
    std::filesystem::remove(file);
    CHECK_THROWS_AS(ForeignDb("/none/there.db", ForeignDb::How::kReadOnly),
                    EnvironmentError);
  }
}

}  // namespace
}  // namespace hyperopt
