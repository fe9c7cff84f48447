package plans

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/manifests"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

const (
	// sendWithin is how long a stream of plans waits for a caller that does not read: long
	// enough to look at a page of output.
	sendWithin = time.Minute
	// previewTime is the maximum duration of a stream of plans.
	previewTime = 10 * time.Minute
)

// PreviewPod implements workloadresizerv1.PlanServiceServer.
func (s *Service) PreviewPod(ctx context.Context, request *workloadresizerv1.PreviewPodRequest) (*workloadresizerv1.PreviewPodResponse, error) {
	if err := access.MustSee(s.config.Viewer.View(ctx), request.GetNamespace()); err != nil {
		return nil, err
	}
	options, err := s.options(request)
	if err != nil {
		return nil, err
	}
	p, err := s.config.Reconciler.Preview(ctx, types.NamespacedName{Namespace: request.GetNamespace(), Name: request.GetPod()}, options)
	if err != nil {
		return nil, translate.Error(err)
	}
	return &workloadresizerv1.PreviewPodResponse{Plan: manifests.Message(p)}, nil
}

// PreviewPlans implements workloadresizerv1.PlanServiceServer.
func (s *Service) PreviewPlans(request *workloadresizerv1.PreviewPlansRequest, stream grpc.ServerStreamingServer[workloadresizerv1.PreviewPlansResponse]) error {
	release, err := s.config.Slots.Take(stream.Context())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(stream.Context(), previewTime)
	defer cancel()
	call := &streams.Call{SendWithin: sendWithin, TooSlow: rpcerror.PreviewTooSlow, Advice: "try again, and read messages as they arrive"}
	send := func(m *workloadresizerv1.PreviewPlansResponse) error {
		return call.Send(func() error { return stream.Send(m) })
	}
	return call.Run(ctx, func(ctx context.Context) error {
		defer release() // Not earlier: the work may outlast the call.
		return s.previewPlans(ctx, request, send)
	})
}

func (s *Service) previewPlans(ctx context.Context, request *workloadresizerv1.PreviewPlansRequest, send func(*workloadresizerv1.PreviewPlansResponse) error) error {
	view := s.config.Viewer.View(ctx)
	of, err := selection(request, view)
	if err != nil {
		return err
	}
	complete := of.Namespace != ""
	if !complete {
		if complete, err = view.SeesAll(); err != nil {
			return err
		}
	}
	options, err := s.options(request)
	if err != nil {
		return err
	}
	total, plans, err := s.config.Reconciler.PreviewAll(ctx, of, options)
	if err != nil {
		return translate.Error(err)
	}
	progress := newProgress(total, s.now)
	if err := send(progress.message(0)); err != nil {
		return err
	}
	sum, messages := newSummary(), newPlanMessages()
	sum.hidden = !complete
	for p := range plans {
		if progress.due() {
			if err := send(progress.message(sum.pods)); err != nil {
				return err
			}
		}
		if err := send(&workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Plan{Plan: messages.plan(p)}}); err != nil {
			return err
		}
		sum.add(p)
	}
	if err := ctx.Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	return send(&workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Summary{Summary: sum.message()}})
}

// previewRequest has the fields that requests for previews of all kinds share.
type previewRequest interface {
	GetRestore() bool
	GetServerSide() bool
	GetWhatIf() *workloadresizerv1.WhatIf
}

func (s *Service) options(request previewRequest) (query.PreviewOptions, error) {
	options := query.PreviewOptions{Restore: request.GetRestore(), ServerSide: request.GetServerSide(), NodeType: request.GetWhatIf().GetNodeType(), WithoutHolds: request.GetWhatIf().GetWithoutHolds()}
	if options.ServerSide && request.GetWhatIf() != nil {
		// The server's account sends the dry run, so callers must not choose its sizes.
		return options, rpcerror.BadField("server_side", "cannot be combined with what_if: the API server is asked only about sizes that follow from the ratios in effect; leave out one of them")
	}
	var err error
	if options.Table, err = manifests.WhatIf(s.config.Ratios, s.config.Production, request.GetWhatIf()); err != nil {
		return options, err
	}
	return options, manifests.CheckNodeType(s.config.Ratios, options.NodeType, options.Table)
}
