package overrides

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/internal/document"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

func validated(t *testing.T, x *suite) {
	s := x.serve(t)
	s.must(t, cpu("n4", 2))
	request := cpu("n4", 4)
	request.ValidateOnly = true
	response := s.must(t, request)
	if response.GetImpact().GetTotal().GetPods() != 4 || response.GetRatio().GetCpuPerf() != 4 || response.GetChange().GetNumber() != 0 {
		t.Errorf("update: %v", response)
	}
	batch, err := s.BatchUpdateOverrides(s.ctx, &workloadresizerv1.BatchUpdateOverridesRequest{Requests: []*workloadresizerv1.UpdateOverrideRequest{cpu("n4", 3)}, ValidateOnly: true})
	if err != nil || batch.GetImpact().GetTotal().GetPods() != 3 {
		t.Errorf("batch: %v, %v", batch, err)
	}
	deleted, err := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4", ValidateOnly: true})
	if err != nil || deleted.GetImpact().GetTotal().GetPods() != 1 || deleted.GetRatio().GetCpuPerf() != 1.25 {
		t.Errorf("delete: %v, %v", deleted, err)
	}
	back, err := s.RollbackOverrides(s.ctx, &workloadresizerv1.RollbackOverridesRequest{ToChange: new(int64(0)), ValidateOnly: true})
	if err != nil || back.GetImpact().GetTotal().GetPods() != 1 || back.GetChange().GetNumber() != 0 || back.GetChange().RollbackTo == nil {
		t.Errorf("rollback: %v, %v", back, err)
	}
	if r := s.get("n4"); r.GetCpuPerf() != 2 {
		t.Errorf("in effect: %v", r)
	}
}

func baselineInUse(t *testing.T, x *suite) {
	s := x.serve(t)
	s.must(t, both("c3", 1, 1))
	s.set(t, func(l *ratios.Layer) { l.Baseline = "c3" })
	_, err := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "c3"})
	servertest.CheckError(t, err, codes.FailedPrecondition, "BASELINE_IN_USE", `the baseline node type "c3" has no ratio`)
	_, err = s.RollbackOverrides(s.ctx, &workloadresizerv1.RollbackOverridesRequest{ToChange: new(int64(0))})
	servertest.CheckError(t, err, codes.FailedPrecondition, "BASELINE_IN_USE", `the baseline node type "c3" has no ratio`)
	if s.get("c3") == nil {
		t.Error("the baseline is gone")
	}
}

func deleteMissing(t *testing.T, x *suite) {
	s := x.serve(t)
	_, err := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4"})
	servertest.CheckError(t, err, codes.NotFound, "NO_OVERRIDE", `node type "n4" has no override`)
	response, err := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4", AllowMissing: true})
	if err != nil || response.GetChange() != nil || response.GetRatio().GetCpuPerf() != 1.25 {
		t.Errorf("deleted: %v, %v", response, err)
	}
}

func dryRun(t *testing.T, x *suite) {
	s := x.serve(t, override.ReadOnly())
	request := cpu("n4", 2)
	_, err := s.UpdateOverride(s.ctx, request)
	servertest.CheckError(t, err, codes.FailedPrecondition, "READ_ONLY", "--dry-run")
	request.ValidateOnly = true
	if checked, err := s.UpdateOverride(s.ctx, request); err != nil || checked.GetRatio().GetCpuPerf() != 2 {
		t.Errorf("validated: %v, %v", checked, err)
	}
}

func missingConfigMap(t *testing.T, x *suite) {
	s := x.serve(t)
	if err := x.client.CoreV1().ConfigMaps(x.namespace).Delete(t.Context(), x.name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := s.UpdateOverride(s.ctx, cpu("n4", 2))
	servertest.CheckError(t, err, codes.FailedPrecondition, "OVERRIDES_MISSING", "apply your manifests")
}

func TestWrite(t *testing.T) {
	t.Run("a server without overrides refuses all calls", aServerWithoutOverridesRefusesAllCalls)
	t.Run("reason and author are one line each", reasonAndAuthorAreOneLineEach)
	t.Run("translates errors of the store", translatesErrorsOfTheStore)
}

func aServerWithoutOverridesRefusesAllCalls(t *testing.T) {
	s := New(Config{Store: ratios.NewStore()})
	for name, call := range map[string]func() error{
		"update":   func() error { _, err := s.UpdateOverride(t.Context(), cpu("n4", 2)); return err },
		"delete":   func() error { _, err := s.DeleteOverride(t.Context(), nil); return err },
		"rollback": func() error { _, err := s.RollbackOverrides(t.Context(), nil); return err },
		"changes": func() error {
			_, err := s.ListOverrideChanges(t.Context(), &workloadresizerv1.ListOverrideChangesRequest{})
			return err
		},
		"list": func() error {
			_, err := s.ListOverrides(t.Context(), &workloadresizerv1.ListOverridesRequest{})
			return err
		},
		"get": func() error { _, err := s.GetOverride(t.Context(), nil); return err },
		"batch": func() error {
			_, err := s.BatchUpdateOverrides(t.Context(), &workloadresizerv1.BatchUpdateOverridesRequest{Requests: []*workloadresizerv1.UpdateOverrideRequest{cpu("n4", 2)}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			servertest.CheckError(t, call(), codes.FailedPrecondition, "OVERRIDES_DISABLED", "add override to its --ratio-sources")
		})
	}
}

func reasonAndAuthorAreOneLineEach(t *testing.T) {
	s := New(Config{Store: ratios.NewStore()})
	_, err := s.write(t.Context(), &write{request: &workloadresizerv1.RollbackOverridesRequest{Reason: "a\nb", Author: strings.Repeat("a", 129)}})
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "reason must be one line of text without control characters; author is 129 bytes long, the maximum is 128")
	_, err = s.write(t.Context(), &write{request: &workloadresizerv1.RollbackOverridesRequest{Reason: "\ufffe"}})
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "reason contains U+FFFE, which is not a character")
}

func translatesErrorsOfTheStore(t *testing.T) {
	for _, tc := range []struct {
		err     error
		code    codes.Code
		reason  string
		message string
	}{
		{&document.RefusedError{Err: context.Canceled}, codes.FailedPrecondition, "OVERRIDES_REFUSED", "permissions of deploy/base"},
		{&document.ContentError{Noun: "overrides", Err: context.Canceled}, codes.FailedPrecondition, "OVERRIDES_INVALID", "to delete all overrides"},
		{&override.FullError{Overrides: 1001}, codes.ResourceExhausted, "TOO_MANY_OVERRIDES", "1001 overrides"},
		{&override.FieldError{NodeType: "n4", Field: "memPerf", Problem: "must be set"}, codes.InvalidArgument, "INVALID_ARGUMENT", "override.memory_perf must be set"},
		{fmt.Errorf("no connection"), codes.Unavailable, "OVERRIDES_NOT_READY", "no connection"},
	} {
		servertest.CheckError(t, overrideError(tc.err), tc.code, tc.reason, tc.message)
	}
	if err := overrideError(fmt.Errorf("read: %w", context.DeadlineExceeded)); status.Code(err) != codes.DeadlineExceeded {
		t.Error(err)
	}
}
