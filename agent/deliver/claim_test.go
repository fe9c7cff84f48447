package deliver

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// released is when the node lets pods in.
var released = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

// granting answers claims with each error in turn, and then decides.
type granting struct {
	scripted
	errs    []error
	granted bool
	delay   *durationpb.Duration
	asked   []*workloadresizerv1.ClaimMeasurementRequest
}

func (g *granting) ClaimMeasurement(_ context.Context, request *workloadresizerv1.ClaimMeasurementRequest) (*workloadresizerv1.ClaimMeasurementResponse, error) {
	g.asked = append(g.asked, request)
	if len(g.errs) > 0 {
		err := g.errs[0]
		g.errs = g.errs[1:]
		return nil, err
	}
	return &workloadresizerv1.ClaimMeasurementResponse{ReleaseTime: timestamppb.New(released), RemainingDuration: g.delay, Granted: g.granted, Message: "20 nodes are enough"}, nil
}

func TestClaim(t *testing.T) {
	for _, tc := range []struct {
		name     string
		errs     []error
		granted  bool
		calls    int
		says     string
		declined bool
	}{
		{"is granted", nil, true, 1, "", false},
		{"is declined", nil, false, 1, "this node is not measured: 20 nodes are enough", true},
		{"asks again while the server restarts or does not know the node", []error{status.Error(codes.Unavailable, "away"), status.Error(codes.NotFound, "new")}, true, 3, "", false},
		{"is granted by an earlier release", []error{status.Error(codes.Unimplemented, "unknown method")}, false, 1, "", false},
		{"does not ask again after a permanent error", []error{status.Error(codes.PermissionDenied, "you may not")}, true, 1, "you may not", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &granting{errs: tc.errs, granted: tc.granted}
				sender := &Sender{Client: connect(t, server), Node: "n4-1"}
				release, err := sender.Claim(t.Context(), Claim{CPUModel: "Intel-6-207", VCPUs: 8, ThreadsPerCore: 2, Version: "1-go1.26"})
				if want := tc.granted && err == nil; release.Equal(released) != want {
					t.Errorf("the node lets pods in at %v", release)
				}
				if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) || Declined(err) != tc.declined {
					t.Errorf("got error %v, want %q", err, tc.says)
				}
				if len(server.asked) != tc.calls {
					t.Errorf("asked %d times, want %d", len(server.asked), tc.calls)
				}
				if a := server.asked[0]; a.GetNode() != "n4-1" || a.GetVcpus() != 8 || a.GetThreadsPerCore() != 2 || a.GetCpuModel() != "Intel-6-207" || a.GetVersion() != "1-go1.26" {
					t.Errorf("asked %v", a)
				}
			})
		})
	}
}

// TestClaimWithAWrongClock asks a server whose clock differs from that of the node by decades.
func TestClaimWithAWrongClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const delay = 28 * time.Second
		server := &granting{granted: true, delay: durationpb.New(delay)}
		sender := &Sender{Client: connect(t, server), Node: "n4-1"}
		release, err := sender.Claim(t.Context(), Claim{VCPUs: 8})
		if got := time.Until(release); err != nil || got != delay {
			t.Errorf("the node lets pods in after %v, error %v", got, err)
		}
	})
}
