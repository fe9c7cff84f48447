package deliver

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// DeclinedError is why the server does not need a measurement of this node.
type DeclinedError struct{ reason string }

// Error implements error.
func (e *DeclinedError) Error() string { return "this node is not measured: " + e.reason }

// Declined reports whether err says that the server does not need a measurement.
func Declined(err error) bool {
	var declined *DeclinedError
	return errors.As(err, &declined)
}

// Claim describes what an agent would measure.
type Claim struct {
	CPUModel string
	VCPUs    int
	// ThreadsPerCore is the number of vCPUs that share a core; 0 if it is not known.
	ThreadsPerCore int
	// Version is the version of the benchmarks.
	Version string
}

// Claim asks the server whether to measure the node, until it answers or patience runs out. It
// returns when the node lets pods in at the latest, by the clock of this node; zero if it does so
// now. The error is a *DeclinedError if the node should not be measured.
func (s *Sender) Claim(ctx context.Context, c Claim) (release time.Time, err error) {
	request := &workloadresizerv1.ClaimMeasurementRequest{
		Node: s.Node, Vcpus: int32(c.VCPUs), CpuModel: c.CPUModel, Version: c.Version, ThreadsPerCore: known(int32(c.ThreadsPerCore)),
	}
	var response *workloadresizerv1.ClaimMeasurementResponse
	var asked time.Time
	err = persist(ctx, "ask whether to measure this node", func(ctx context.Context) (again, err error) {
		asked = time.Now()
		response, err = s.Client.ClaimMeasurement(ctx, request)
		if status.Code(err) == codes.NotFound {
			return err, nil // The node is so new that the server does not know it yet.
		}
		return nil, err
	})
	switch {
	case status.Code(err) == codes.Unimplemented:
		return time.Time{}, nil // A server of an earlier release wants to know all nodes.
	case err != nil:
		return time.Time{}, err
	case !response.GetGranted():
		return time.Time{}, &DeclinedError{response.GetMessage()}
	case response.GetReleaseTime() == nil:
		return time.Time{}, nil
	case response.GetRemainingDuration() != nil:
		// By the clock of this node, which may be wrong until it has started.
		return asked.Add(response.GetRemainingDuration().AsDuration()), nil
	}
	return response.GetReleaseTime().AsTime(), nil
}
