package benchmarks

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/intake"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/translate"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// ClaimMeasurement implements workloadresizerv1.BenchmarkServiceServer.
func (s *Service) ClaimMeasurement(ctx context.Context, request *workloadresizerv1.ClaimMeasurementRequest) (*workloadresizerv1.ClaimMeasurementResponse, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	own, bound := access.FromContext(ctx).Node()
	if bound && own != request.GetNode() {
		return nil, rpcerror.New(rpcerror.NodeNotYours, fmt.Sprintf("your token is bound to node %q, so you cannot claim the measurement of node %q", own, request.GetNode()))
	}
	if s.config.Reconciler.DryRun && !request.GetValidateOnly() {
		return nil, rpcerror.New(rpcerror.ReadOnly, "no node needs to measure itself: the server runs with --dry-run and stores no samples; set validate_only to only see the decision")
	}
	of := sample.Sample{CPUModel: request.GetCpuModel()}
	fault, err := s.identifyNode(&of, request.GetNode(), bound)
	switch {
	case err != nil:
		return nil, err
	case fault != nil && fault.code == workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_NODE_UNKNOWN:
		return nil, rpcerror.NotFound(rpcerror.NodeUnknown, "node", request.GetNode(), fmt.Sprintf("node %q is not known; if it is new, ask again later", request.GetNode()))
	case fault != nil:
		return nil, rpcerror.BadField(fault.field, fault.message)
	}
	release, response := s.config.Reconciler.Gate.Until(request.GetNode()), &workloadresizerv1.ClaimMeasurementResponse{}
	starting, err := s.starting(request.GetNode(), release)
	if err != nil {
		return nil, err
	}
	shared := request.GetThreadsPerCore() > 1
	standing := s.config.Benchmarks.Claim(intake.Claim{
		Node: request.GetNode(), NodeType: of.NodeType, CPUModel: of.CPUModel, VCPUs: int(request.GetVcpus()), Version: request.GetVersion(),
	}, request.GetValidateOnly() || shared && !starting)
	response.Granted, response.Machines, response.WantedMachines = standing.Granted, int64(standing.Machines), int64(standing.Wanted)
	switch {
	case !standing.Granted:
		response.Message = fmt.Sprintf("%d nodes of type %s with %d vCPUs and the same CPU are enough", standing.Machines, of.NodeType, request.GetVcpus())
	case shared && !starting:
		response.Granted = false
		response.Message = "vCPUs of this node share cores, so it can only be measured while it starts"
	}
	if response.GetGranted() {
		if response.ReleaseTime = values.Timestamp(release); response.ReleaseTime != nil {
			response.RemainingDuration = durationpb.New(release.Sub(s.now()))
		}
	} else if bound && !request.GetValidateOnly() {
		s.config.Reconciler.Gate.Release(request.GetNode())
	}
	return response, nil
}

// startTime is how long a node without a startup taint counts as starting. Its agent starts early,
// and discards the measurement if pods have started earlier.
const startTime = 10 * time.Minute

// starting reports whether a node is starting: its taint keeps pods out until release, or it is
// new.
func (s *Service) starting(node string, release time.Time) (bool, error) {
	machine, _, err := s.config.Reconciler.Machine(node)
	if err != nil {
		return false, translate.Error(err)
	}
	return !release.IsZero() || s.now().Sub(machine.Created) < startTime, nil
}
