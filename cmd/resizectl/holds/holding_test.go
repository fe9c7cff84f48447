package holds

import (
	"testing"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// holding is what a server answers about holds.
type holding struct {
	holds   []*workloadresizerv1.Hold
	problem string
	freeze  *workloadresizerv1.Freeze
	// These describe the scope of a hold in answers.
	pods   *int64
	nested int64
	wider  *workloadresizerv1.Hold
	// withoutEmergencies makes it a server that does not know emergency restores.
	withoutEmergencies bool
}

// server returns a server that stores what is asked for, and ends all its holds.
func (h holding) server() *cmdtest.Fake {
	return cmdtest.Answering(
		cmdtest.On(func(req *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error) {
			hold := cmdtest.Stored(workloadresizerv1.HoldKind_HOLD_KIND_RESTORE, req.GetScope(), req.GetReason(), req.GetTtl())
			hold.Emergency = req.GetEmergency() && !h.withoutEmergencies
			return &workloadresizerv1.RestoreResponse{Hold: hold, Pods: h.pods}, nil
		}),
		cmdtest.On(func(req *workloadresizerv1.PauseRequest) (*workloadresizerv1.PauseResponse, error) {
			hold := cmdtest.Stored(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, req.GetScope(), req.GetReason(), req.GetTtl())
			return &workloadresizerv1.PauseResponse{Hold: hold, Pods: h.pods, OverruledBy: h.wider}, nil
		}),
		cmdtest.On(func(req *workloadresizerv1.FreezeRequest) (*workloadresizerv1.FreezeResponse, error) {
			return &workloadresizerv1.FreezeResponse{Freeze: &workloadresizerv1.Freeze{Reason: req.GetReason(), Author: "ann", CreateTime: timestamppb.New(cmdtest.Since)}}, nil
		}),
		cmdtest.Returns(&workloadresizerv1.ResumeResponse{Released: h.holds, Pods: h.pods, Nested: h.nested, StillHeldBy: h.wider}),
		cmdtest.Returns(&workloadresizerv1.ListHoldsResponse{Holds: h.holds, Problem: h.problem, Freeze: h.freeze}),
		cmdtest.Returns(&workloadresizerv1.UnfreezeResponse{Released: h.freeze}),
		cmdtest.Returns(&workloadresizerv1.GetFreezeResponse{Freeze: h.freeze}),
		cmdtest.Plans(nil),
	)
}

// serve starts that server and returns its address.
func (h holding) serve(t *testing.T) string {
	t.Helper()
	return h.server().Serve(t)
}

// progressed returns the answer about a hold of pods of which some are not restored yet.
func progressed(req *workloadresizerv1.GetHoldRequest, pods, pending int64) *workloadresizerv1.GetHoldResponse {
	return &workloadresizerv1.GetHoldResponse{
		Hold:     cmdtest.Stored(req.GetKind(), req.GetScope(), "", nil),
		Progress: &workloadresizerv1.HoldProgress{Pods: pods, Pending: pending, Done: pods - pending},
	}
}
