#include "trial/trials_view.h"

#include <doctest/doctest.h>

#include <limits>

#include "trial/internal/sqlite.h"
#include "trial/store.h"
#include "trial/testing/sample_record.h"
#include "trial/testing/store_folder.h"

namespace hyperopt {
namespace {

class Record {
 public:
  Record() : store_(OpenSqliteStore(path(), StoreMode::kCreate)) {
    Put(PutSweep{SampleSweep()});
  }
  std::filesystem::path path() const { return folder_.path() / "sweep.db"; }
  void Put(RecordChange change) { store_->Commit(std::vector{std::move(change)}); }
  void PutTrialWith(int64_t id, Objective value, Params params) {
    TrialRow row = SampleTrial(id);
    row.best = value;
    row.best_step = value.missing() ? 0 : 2;
    Put(PutTrial{row});
    Put(PutParams{row.id, std::move(params)});
  }
  void Report(int64_t trial, int64_t step, const std::string& fields) {
    ReportRow row = SampleReport(trial, offset_ += 10, 0.5);
    row.step = step;
    row.values = fields;
    Put(AddReport{row});
  }
  void Refresh(const std::string& metric, std::vector<std::string> parameters = {}) {
    RefreshTrialsView(path(), {metric, false, std::move(parameters)});
  }
  std::string Ask(const std::string& sql) const {
    Database database(path(), OpenHow::kReadOnly);
    std::string text;
    Statement(database, "SELECT quote(x) FROM (" + sql + ")")
        .ForEach([&](RowReader row) {
          text += (text.empty() ? "" : " ") + std::string(row.Text());
          return true;
        });
    return text;
  }
  std::string Columns() const {
    Database database(path(), OpenHow::kReadOnly);
    std::string text;
    Statement(database, "SELECT name FROM pragma_table_info('trials')")
        .ForEach([&](RowReader row) {
          text += (text.empty() ? "" : "|") + std::string(row.Text());
          return true;
        });
    return text;
  }

 private:
  StoreFolder folder_;
  std::unique_ptr<TrialStore> store_;  // in the folder
  int64_t offset_ = 0;
};

}  // namespace

TEST_SUITE_BEGIN("trials view");

TEST_CASE("a column a parameter, with its type") {
  Record record;
  record.PutTrialWith(0,
                      Objective::Of(0.5),
                      {{"lr", 1e-05},
                       {"layers", int64_t{3}},
                       {"bias", true},
                       {"name", std::string("it's")},
                       {"sizes", Structured{"[1,2]"}},
                       {"none", std::monostate()}});
  record.Refresh("loss", {"lr", "layers"});
  CHECK(record.Columns() ==
        "id|state|loss|step|lr|layers|bias|name|none|sizes|reason|detail|attempt|"
        "reports|started|seconds");
  CHECK(record.Ask("SELECT typeof(lr) || lr AS x FROM trials") == "'real1.0e-05'");
  CHECK(record.Ask("SELECT layers AS x FROM trials") == "3");
  CHECK(record.Ask("SELECT bias AS x FROM trials") == "1");
  CHECK(record.Ask("SELECT name AS x FROM trials") == "'it''s'");
  CHECK(record.Ask("SELECT sizes AS x FROM trials") == "'[1,2]'");
  CHECK(record.Ask("SELECT none AS x FROM trials") == "NULL");
  CHECK(record.Ask("SELECT loss AS x FROM trials") == "0.5");
}

TEST_CASE("names that mean something to SQL, or that are taken") {
  Record record;
  const std::string odd = "a\"b'c; DROP TABLE trial --";
  record.PutTrialWith(0,
                      Objective::Of(1),
                      {{odd, int64_t{1}},
                       {"State", int64_t{2}},
                       {"LR", int64_t{3}},
                       {"lr", int64_t{4}},
                       {"trainer.lr", int64_t{5}},
                       {"step", int64_t{6}}});
  record.Refresh("id");
  CHECK(record.Columns() ==
        "id|state|report.id|step|LR|param.State|" + odd +
            "|param.lr|param.step|trainer.lr|reason|detail|attempt|reports|started|"
            "seconds");
  CHECK(record.Ask("SELECT \"a\"\"b'c; DROP TABLE trial --\" AS x FROM trials") == "1");
  CHECK(record.Ask("SELECT \"param.lr\" AS x FROM trials") == "4");
  CHECK(record.Ask("SELECT \"trainer.lr\" AS x FROM trials") == "5");
}

TEST_CASE("values that are no numbers, and the order by the metric") {
  Record record;
  const double infinity = std::numeric_limits<double>::infinity();
  record.PutTrialWith(0, Objective::Of(0.5), {});
  record.PutTrialWith(1, Objective::Of(infinity), {});
  record.PutTrialWith(2, Objective::Of(-infinity), {});
  record.PutTrialWith(3, Objective::Of(0.25), {});
  record.PutTrialWith(4, Objective::Missing(), {});
  record.Refresh("loss");
  CHECK(record.Ask("SELECT loss AS x FROM trials ORDER BY loss") ==
        "NULL 0.25 0.5 '+inf' '-inf'");
}

TEST_CASE(
    "fields of the reports, at the step of the value; new ones and new parameters") {
  Record record;
  record.PutTrialWith(0, Objective::Of(0.5), {{"x", int64_t{1}}});
  record.Refresh("loss");
  const std::string before = record.Columns();
  CHECK(before.find("accuracy") == before.npos);
  record.Report(0, 1, R"({"loss":0.9,"accuracy":0.1})");
  record.Report(0, 2, R"({"loss":0.5})");
  record.Report(0, 2, R"({"accuracy":0.8,"a\"b":3})");
  record.PutTrialWith(1, Objective::Missing(), {{"y", int64_t{2}}});
  record.Refresh("loss");
  CHECK(
      record.Columns() ==
      "id|state|loss|step|x|y|accuracy|reason|detail|attempt|reports|started|seconds");
  CHECK(record.Ask("SELECT accuracy AS x FROM trials") == "0.8 NULL");
  CHECK(record.Ask("SELECT y AS x FROM trials") == "NULL 2");
}

TEST_SUITE_END();

}  // namespace hyperopt
