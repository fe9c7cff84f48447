package usage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/server/translate"
	usagestore "github.com/workload-resizer/workload-resizer/usage"
)

const (
	// mostUsages is the maximum number of usages in a stream: a day of a large node. maxErrors is
	// the maximum number of errors that are returned.
	mostUsages = 200_000
	maxErrors  = 100
	// MostStreams is how many reports may arrive at a time, and MostStreamsPerAccount how many of
	// one account, or of a node agent. Each keeps its errors.
	MostStreams           = 1024
	MostStreamsPerAccount = 4
	// reportTime is the maximum duration of a report.
	reportTime = 10 * time.Minute
)

// ReportUsage implements workloadresizerv1.UsageServiceServer.
func (s *Service) ReportUsage(stream grpc.ClientStreamingServer[workloadresizerv1.ReportUsageRequest, workloadresizerv1.ReportUsageResponse]) error {
	if err := s.takesReports(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(stream.Context(), reportTime)
	defer cancel()
	ctx, received := s.config.Receiving.Enter(ctx)
	r := s.newReport(access.FromContext(ctx))
	// The response is the only message that is sent, so SendWithin limits only the total
	// time.
	return limits.Cause(ctx, (&streams.Call{SendWithin: reportTime}).Run(ctx, func(context.Context) error {
		defer received()
		for {
			request, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return stream.SendAndClose(&r.response)
			}
			if err != nil {
				return err
			}
			if err := r.take(request); err != nil {
				return err
			}
		}
	}))
}

// takesReports returns an error if usage cannot be reported here.
func (s *Service) takesReports() error {
	if err := s.enabled(); err != nil {
		return err
	}
	if s.config.Push == nil {
		return rpcerror.New(rpcerror.PushDisabled, "usage cannot be reported: start the server with --usage-sources=push,metrics")
	}
	if err := s.config.Demands.Ready(); err != nil {
		return translate.Error(err)
	}
	return nil
}

// report is one stream of usages.
type report struct {
	service *Service
	// pods are those that the caller may report, and node is where they run; empty for all nodes.
	pods map[types.UID]*pod.Pod
	node string
	// sender is the node, or else the caller.
	sender   string
	received int
	response workloadresizerv1.ReportUsageResponse
}

func (s *Service) newReport(by access.Caller) *report {
	node, bound := by.Node()
	r := &report{service: s, sender: by.String()}
	switch {
	case !bound:
		r.pods = s.config.Demands.PodsOn("")
	case node != "":
		r.node, r.sender, r.pods = node, "node/"+node, s.config.Demands.PodsOn(node)
	}
	return r
}

// take counts or validates the usages of a message.
func (r *report) take(request *workloadresizerv1.ReportUsageRequest) error {
	first := r.received
	if r.received += len(request.GetUsages()); r.received > mostUsages {
		return rpcerror.BadField("usages", fmt.Sprintf("must be at most %d in one stream: send the rest in another stream; the usages of earlier messages are counted", mostUsages))
	}
	if !request.GetValidateOnly() {
		if r.service.config.DryRun {
			return rpcerror.New(rpcerror.ReadOnly, "usage cannot be counted: the server runs with --dry-run; set validate_only to validate it")
		}
		// The leader may have changed since the stream began.
		if !r.service.config.Demands.Collects() {
			return rpcerror.New(rpcerror.NotCollecting, "this replica does not collect usage: connect again, so that another replica may answer")
		}
	}
	samples := make([]usagestore.Sample, 0, 2*len(request.GetUsages()))
	accepted := 0
	for i, u := range request.GetUsages() {
		more, wrong := r.appendSamples(samples, u)
		if wrong != nil {
			r.reject(first+i, u, wrong)
			continue
		}
		samples = more
		accepted++
	}
	if !request.GetValidateOnly() {
		// A container may be about to be killed: the next read of the source may be too late, and there may be no
		// room in it.
		r.service.config.Demands.SignalUrgent(samples)
		if err := r.service.config.Push.Push(r.sender, samples); err != nil {
			return rpcerror.New(rpcerror.TooMuchUsage, err.Error()+": send it again later")
		}
	}
	r.response.Accepted += int64(accepted)
	return nil
}

func (r *report) reject(index int, u *workloadresizerv1.ContainerUsage, wrong *fault) {
	r.response.Rejected++
	if len(r.response.GetErrors()) == maxErrors {
		return
	}
	r.response.Errors = append(r.response.Errors, &workloadresizerv1.UsageError{
		Index: int64(index), PodUid: u.GetPodUid(), Code: wrong.code, Field: wrong.field, Message: wrong.message,
	})
}
