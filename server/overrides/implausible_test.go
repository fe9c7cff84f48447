package overrides

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/workload-resizer/workload-resizer/policy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func implausible(t *testing.T, x *suite) {
	s := x.serve(t)
	allow := func(r *workloadresizerv1.UpdateOverrideRequest) *workloadresizerv1.UpdateOverrideRequest {
		r.AllowImplausible = true
		return r
	}
	refused := func(want string, call func() error) {
		t.Helper()
		before := s.store.Table().Revision
		servertest.CheckError(t, call(), codes.FailedPrecondition, "IMPLAUSIBLE_RATIO", want)
		if after := s.store.Table().Revision; after != before {
			t.Errorf("the refused change is in effect")
		}
	}
	request := cpu("n4", 125)
	update := func() error { _, err := s.UpdateOverride(s.ctx, request); return err }
	refused("n4 would not be used: n4 would be 125 times as fast as n2d for cpu, beyond maxSpeedRatio 5: correct the ratio of n4 (from override)", update)
	request.ValidateOnly = true
	refused("n4 would be 125 times", update)
	request.ValidateOnly = false
	if got := s.must(t, allow(request)).GetRatio(); !strings.HasPrefix(got.GetImplausible(), "n4 would be 125 times") || s.get("n4").GetImplausible() != got.GetImplausible() {
		t.Errorf("response %v, in effect: %v", got, s.get("n4"))
	}
	// It is another mistake, even if the node type was not used before.
	request = cpu("n4", 126)
	refused("126 times", update)
	// A change elsewhere does not repeat what is known.
	s.must(t, both("c3", 1.3, 1))
	if got := s.must(t, cpu("n4", 1.25)).GetRatio(); got.GetImplausible() != "" {
		t.Errorf("after the correction: %v", got)
	}

	// A batch is judged as a whole, and the error names all node types.
	batch := &workloadresizerv1.BatchUpdateOverridesRequest{Requests: []*workloadresizerv1.UpdateOverrideRequest{cpu("n4", 1.2), cpu("n2d", 100)}}
	updateAll := func() error { _, err := s.BatchUpdateOverrides(s.ctx, batch); return err }
	refused("2 node types would not be used: c3 (n2d would be 76.9231 times as fast as c3 for cpu), n4 (n2d would be 83.3333 times as fast as n4 for cpu), beyond maxSpeedRatio: correct the ratios", updateAll)
	batch.Requests[1].AllowImplausible = true
	servertest.CheckError(t, updateAll(), codes.InvalidArgument, "INVALID_ARGUMENT", "requests[1] must not have validate_only, reason, author, allow_implausible or request_id: set them in the batch")
	batch.Requests = []*workloadresizerv1.UpdateOverrideRequest{cpu("n4", 125), cpu("n2d", 100), cpu("c3", 130)}
	if err := updateAll(); err != nil {
		t.Errorf("all are about as fast as each other: %v", err)
	}
	batch.Requests, batch.AllowImplausible = []*workloadresizerv1.UpdateOverrideRequest{cpu("n4", 1)}, true
	if err := updateAll(); err != nil || s.get("n4").GetImplausible() == "" {
		t.Errorf("allowed: %v, in effect %v", err, s.get("n4"))
	}

	// A deletion and a rollback return to what was there before.
	s.must(t, cpu("n4", 110))
	deletion := &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4"}
	remove := func() error { _, err := s.DeleteOverride(s.ctx, deletion); return err }
	refused("n2d would be 80 times as fast as n4 for cpu, beyond maxSpeedRatio 5: correct the ratio of n4 (from configmap)", remove)
	deletion.ValidateOnly = true
	refused("n2d would be 80 times", remove)
	deletion.ValidateOnly, deletion.AllowImplausible = false, true
	if err := remove(); err != nil || s.get("n4").GetImplausible() == "" {
		t.Errorf("deleted: %v, in effect %v", err, s.get("n4"))
	}
	to := int64(1)
	rollback := &workloadresizerv1.RollbackOverridesRequest{ToChange: &to}
	back := func() error { _, err := s.RollbackOverrides(s.ctx, rollback); return err }
	refused("n4 would be 125 times as fast as n2d", back)
	rollback.AllowImplausible = true
	if err := back(); err != nil || s.get("n4").GetImplausible() == "" {
		t.Errorf("rolled back: %v, in effect %v", err, s.get("n4"))
	}
	if _, err := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4"}); err != nil || s.get("n4").GetImplausible() != "" {
		t.Errorf("deleted the mistake: %v, in effect %v", err, s.get("n4"))
	}
}

func implausibleElsewhere(t *testing.T, x *suite) {
	s := x.serve(t)
	config := servertest.Layer()
	config.Ratios["c3"] = ratios.Ratio{CPUPerf: 4, MemoryPerf: 1}
	config.Rules = []ratios.Rule{{Name: "critical", Match: policy.Criteria{ComputeClass: "critical"}, Baseline: "c3"}}
	s.source.Set(ratios.Update{Layer: config})
	s.measured.Set(ratios.Update{Layer: &ratios.Layer{RelativeTo: "n4", Ratios: map[string]ratios.Ratio{"m7i": {CPUPerf: 2}}}})
	localcluster.Eventually(t, "the ratios", func() error {
		if table := s.store.Table(); !table.Knows("m7i") || len(table.Profiles()) != 2 {
			return fmt.Errorf("the table has %v", table.NodeTypes())
		}
		return nil
	})
	// n4 is the unit of m7i, but the baseline of neither the globals nor the rule.
	_, err := s.UpdateOverride(s.ctx, cpu("n4", 3))
	servertest.CheckError(t, err, codes.FailedPrecondition, "IMPLAUSIBLE_RATIO", "m7i would not be used: m7i would be 6 times as fast as n2d for cpu")
	_, err = s.UpdateOverride(s.ctx, cpu("n4", 0.3))
	servertest.CheckError(t, err, codes.FailedPrecondition, "IMPLAUSIBLE_RATIO", "2 node types would not be used: m7i by critical (c3 would be 6.66667 times as fast as m7i for cpu), n4 by critical (c3 would be 13.3333 times as fast as n4 for cpu), beyond")
	s.must(t, cpu("n4", 2))
}
