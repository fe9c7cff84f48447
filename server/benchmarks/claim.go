package benchmarks

import (
	"context"
	"fmt"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/intake"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
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
	standing := s.config.Benchmarks.Claim(intake.Claim{
		Node: request.GetNode(), NodeType: of.NodeType, CPUModel: of.CPUModel, VCPUs: int(request.GetVcpus()), Version: request.GetVersion(),
	}, request.GetValidateOnly())
	response := &workloadresizerv1.ClaimMeasurementResponse{
		Granted: standing.Granted, Machines: int64(standing.Machines), WantedMachines: int64(standing.Wanted),
	}
	if !standing.Granted {
		response.Message = fmt.Sprintf("%d nodes of type %s with %d vCPUs and the same CPU are enough", standing.Machines, of.NodeType, request.GetVcpus())
	}
	return response, nil
}
