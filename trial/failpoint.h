// Points at which a test kills the process, and defects that a test build owns to. A
// program chooses at link time: hyperopt_failpoint_off (all that users get) or
// hyperopt_failpoint_on. Libraries link neither.
//
// Thread-safe.
#pragma once

namespace hyperopt {

// With hyperopt_failpoint_on: SIGKILL to this process at the n-th time it passes the
// point, where HYPEROPT_FAILPOINT ("name@n[,name@n...]", n from 1, absent: 1) names it.
// The name is appended to the file HYPEROPT_FAILPOINT_LOG, where that is set: a test
// must know that its point struck. The environment is read at the first call; the
// counts are the process's own, and a forked child goes on from its parent's. With
// hyperopt_failpoint_off: nothing.
void Failpoint(const char* name);

// With hyperopt_failpoint_on: whether HYPEROPT_DEFECT ("name[,name...]") lists it. The
// audits must notice each. With hyperopt_failpoint_off: false.
bool Defective(const char* name);

}  // namespace hyperopt
