package plans

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/manifests"
	"github.com/workload-resizer/workload-resizer/server/streams"
)

const (
	// mostManifestBytes is the maximum size of a manifest.
	mostManifestBytes = 1 << 20
	// MostManifests is how many manifests may arrive at a time, and MostManifestsPerAccount
	// how many of one account.
	MostManifests           = 64
	MostManifestsPerAccount = 16
	// manifestTime is how long a call may take, with the time to send the manifest.
	manifestTime = 30 * time.Second
)

// PreviewManifest implements workloadresizerv1.PlanServiceServer.
func (s *Service) PreviewManifest(stream grpc.ClientStreamingServer[workloadresizerv1.PreviewManifestRequest, workloadresizerv1.PreviewManifestResponse]) error {
	ctx, cancel := context.WithTimeout(stream.Context(), manifestTime)
	defer cancel()
	ctx, received := s.config.Receiving.Enter(ctx)
	call := &streams.Call{SendWithin: sendWithin, TooSlow: rpcerror.PreviewTooSlow, Advice: "send the manifest immediately"}
	return limits.Cause(ctx, call.Run(ctx, func(ctx context.Context) error {
		// Nothing is released before the work ends, which may outlast the call.
		defer received()
		request, err := receiveManifest(stream)
		if err != nil {
			return err
		}
		release, err := s.config.Slots.Take(ctx)
		if err != nil {
			return err
		}
		defer release()
		planner, err := s.config.Planner()
		if err != nil {
			return err
		}
		response, err := manifests.Preview(ctx, planner, s.config.WorkloadKinds, s.config.Ratios, s.config.Production, request)
		if err != nil {
			return err
		}
		return stream.SendAndClose(response)
	}))
}

// receiveManifest joins the messages of a stream.
func receiveManifest(stream grpc.ClientStreamingServer[workloadresizerv1.PreviewManifestRequest, workloadresizerv1.PreviewManifestResponse]) (*workloadresizerv1.PreviewManifestRequest, error) {
	var whole *workloadresizerv1.PreviewManifestRequest
	var text strings.Builder
	for {
		part, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF) && whole == nil:
			return nil, rpcerror.MissingField("manifest", "one or more objects in YAML or JSON")
		case errors.Is(err, io.EOF):
			whole.Manifest = text.String()
			return whole, nil
		case err != nil:
			return nil, err
		case whole == nil:
			whole = part
		case len(part.GetNodeTypes()) > 0:
			return nil, rpcerror.BadField("node_types", "must be in the first message of a manifest")
		case part.GetNamespace() != "":
			return nil, rpcerror.BadField("namespace", "must be in the first message of a manifest")
		case part.GetWhatIf() != nil:
			return nil, rpcerror.BadField("what_if", "must be in the first message of a manifest")
		}
		if text.Len()+len(part.GetManifest()) > mostManifestBytes {
			return nil, rpcerror.BadField("manifest", fmt.Sprintf("is larger than %d MiB: preview its objects in several calls", mostManifestBytes>>20))
		}
		text.WriteString(part.GetManifest())
	}
}
