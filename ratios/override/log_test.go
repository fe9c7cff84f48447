package override

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// logged checks that the log has every change in the history and nothing else.
func logged(t *testing.T, s *stored) {
	s.write(t, nil)
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	// The store may log an expiry itself, so it needs this logger, too. It runs until the cleanup,
	// when the context of the test is done.
	ctx := klog.NewContext(context.Background(), logger)
	clock := testingclock.NewFakeClock(began)
	r := s.runIn(ctx, t, WithClock(clock))
	end := began.Add(time.Hour)
	limited := set("n4", 2)
	limited.ExpireTime = &end
	update := func(r2 Request, p Patch) {
		t.Helper()
		if _, err := r.Update(ctx, []Patch{p}, r2); err != nil {
			t.Fatal(err)
		}
	}
	update(Request{Author: "ann", Reason: "validated only", ValidateOnly: true}, limited)
	update(Request{Author: "ann", CredentialID: "JTI=1", Reason: "measured"}, limited)
	update(Request{Author: "ann", Reason: "the same"}, limited)
	clock.SetTime(end)
	update(Request{Author: "bob"}, set("c3", 3))
	if _, err := r.Rollback(ctx, Rollback{To: 2}, Request{Author: "bob", Reason: "worse"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Delete(ctx, Deletion{NodeType: "c3"}, Request{}); err == nil {
		t.Error("deleted an override that does not exist")
	}

	want := []string{
		`number=1 author="ann" reason="measured" deltas=["n4: from none to cpu 2, memory 1 until 2026-11-21T02:02:03Z"] credential="JTI=1"`,
		`number=2 author="" reason="expired" deltas=["n4: from cpu 2, memory 1 until 2026-11-21T02:02:03Z to none"]`,
		`number=3 author="bob" reason="" deltas=["c3: from none to cpu 3, memory 1"]`,
		`number=4 author="bob" reason="worse" deltas=["c3: from cpu 3, memory 1 to none"] rollbackTo=2`,
	}
	// The store or the next change stores an expiry, and the store logs it when it can.
	localcluster.Eventually(t, "the log", func() error {
		var got []string
		for line := range strings.Lines(logger.GetSink().(ktesting.Underlier).GetBuffer().String()) {
			if _, change, ok := strings.Cut(line, "Overrides changed "); ok {
				got = append(got, strings.TrimSpace(change))
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
}
