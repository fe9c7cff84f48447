package plans

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/manifest"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// mostManifestContainers is the maximum number of containers that are planned for one
// response. A container counts once per node type.
const mostManifestContainers = 20_000

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
		response, err := s.previewManifest(ctx, request)
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
		case part.GetWhatIf() != nil:
			return nil, rpcerror.BadField("what_if", "must be in the first message of a manifest")
		}
		if text.Len()+len(part.GetManifest()) > mostManifestBytes {
			return nil, rpcerror.BadField("manifest", fmt.Sprintf("is larger than %d MiB: preview its objects in several calls", mostManifestBytes>>20))
		}
		text.WriteString(part.GetManifest())
	}
}

func (s *Service) previewManifest(ctx context.Context, request *workloadresizerv1.PreviewManifestRequest) (*workloadresizerv1.PreviewManifestResponse, error) {
	planner, err := s.config.Planner()
	if err != nil {
		return nil, err
	}
	table, err := s.whatIf(request.GetWhatIf())
	if err == nil && table == nil {
		table, err = translate.ReadyTable(s.config.Ratios)
	}
	if err != nil {
		return nil, err
	}
	found, err := manifest.Read([]byte(request.GetManifest()), planner.OwnerKinds[0])
	if err != nil {
		return nil, rpcerror.BadField("manifest", err.Error())
	}
	if len(found.Objects) == 0 {
		return nil, rpcerror.BadField("manifest", nothingIn(found))
	}
	asked, err := askedNodeTypes(request.GetNodeTypes(), table)
	if err != nil {
		return nil, err
	}
	nodeTypes, containers := make([][]string, len(found.Objects)), 0
	for i := range found.Objects {
		if nodeTypes[i] = asked; len(asked) == 0 {
			nodeTypes[i] = plan.NodeTypesOf(found.Objects[i].Pod, table)
		}
		containers += len(nodeTypes[i]) * max(1, len(found.Objects[i].Pod.Containers))
	}
	if containers > mostManifestContainers {
		return nil, rpcerror.BadField("manifest", fmt.Sprintf("has %d containers to plan, counted once per node type, more than %d; name fewer node types, or split the manifest", containers, mostManifestContainers))
	}
	response := &workloadresizerv1.PreviewManifestResponse{Ignored: found.Ignored}
	bytes := 0
	for i := range found.Objects {
		object := &found.Objects[i]
		out := &workloadresizerv1.ManifestPlan{Kind: object.Kind, Namespace: object.Namespace, Name: object.Name, Warnings: object.Warnings}
		for _, nodeType := range nodeTypes[i] {
			if err := ctx.Err(); err != nil {
				return nil, status.FromContextError(err).Err()
			}
			p := messageOf(planner.Imagine(object.Pod, nodeType, table))
			if bytes += proto.Size(p); bytes > limits.AnswerBytes {
				return nil, rpcerror.BadField("manifest", fmt.Sprintf("needs a response of more than %d MiB; name fewer node types, or split the manifest", limits.AnswerBytes>>20))
			}
			out.Plans = append(out.Plans, p)
		}
		response.Objects = append(response.Objects, out)
	}
	return response, nil
}

// nothingIn returns the error for a manifest without objects that create pods: which kinds
// are supported, and which objects it has instead.
func nothingIn(found *manifest.Manifest) string {
	text := "has no object that creates pods, of these kinds: " + strings.Join(manifest.Kinds(), ", ")
	if n := len(found.Ignored); n > 0 {
		text += fmt.Sprintf("; ignored: %s", strings.Join(found.Ignored[:min(n, 5)], ", "))
		if n > 5 {
			text += fmt.Sprintf(" and %d more", n-5)
		}
	}
	return text
}

// askedNodeTypes returns the node types that the request names, in order and without
// duplicates.
func askedNodeTypes(asked []string, table *ratios.Table) ([]string, error) {
	var faults []rpcerror.Violation
	for i, nodeType := range asked {
		if !anyKnows(table, nodeType) {
			faults = append(faults, rpcerror.Violation{Field: fmt.Sprintf("node_types[%d]", i), Problem: unknownType(nodeType)})
		}
	}
	if len(faults) > 0 {
		return nil, rpcerror.BadFields(faults)
	}
	return slices.Compact(slices.Sorted(slices.Values(asked))), nil
}
