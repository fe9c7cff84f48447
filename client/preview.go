package client

import (
	"context"
	"errors"
	"io"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// PreviewOption changes what a preview plans, or how.
type PreviewOption func(*preview)

type preview struct {
	// request holds what the options set, for all kinds of previews.
	request    *workloadresizerv1.PreviewPlansRequest
	nodeTypes  []string
	onProgress func(done, total int64)
}

// AsRestored plans as if the pods were being restored.
func AsRestored() PreviewOption { return func(p *preview) { p.request.Restore = true } }

// ServerSide also asks the API server, by a dry run. It cannot be combined with Assuming.
func ServerSide() PreviewOption { return func(p *preview) { p.request.ServerSide = true } }

// Assuming plans as if whatIf were true.
func Assuming(whatIf *workloadresizerv1.WhatIf) PreviewOption {
	return func(p *preview) { p.request.WhatIf = whatIf }
}

// OfWorkload plans the pods of one workload, e.g. the Deployment "web"; nil plans every
// pod. It is for PreviewPlans.
func OfWorkload(workload *workloadresizerv1.Workload) PreviewOption {
	return func(p *preview) { p.request.Workload = workload }
}

// WithLabels plans the pods with these labels, e.g. "app=web,tier!=cache". It is for
// PreviewPlans.
func WithLabels(selector string) PreviewOption {
	return func(p *preview) { p.request.LabelSelector = selector }
}

// OnNode plans the pods of one node. It is for PreviewPlans.
func OnNode(name string) PreviewOption { return func(p *preview) { p.request.Node = name } }

// OnNodeType plans the pods on nodes of one type. It is for PreviewPlans.
func OnNodeType(name string) PreviewOption { return func(p *preview) { p.request.NodeType = name } }

// ForNodeTypes plans for these node types only. It is for PreviewManifest.
func ForNodeTypes(names ...string) PreviewOption {
	return func(p *preview) { p.nodeTypes = names }
}

// OnProgress calls progress with how many plans were sent, and how many there are in total,
// at the beginning and about every second. It is for PreviewPlans.
func OnProgress(progress func(done, total int64)) PreviewOption {
	return func(p *preview) { p.onProgress = progress }
}

func previewOf(request *workloadresizerv1.PreviewPlansRequest, opts []PreviewOption) preview {
	p := preview{request: request}
	for _, set := range opts {
		set(&p)
	}
	return p
}

// PreviewPod returns what would happen to one pod now, and why.
func (c *Client) PreviewPod(ctx context.Context, namespace, pod string, opts ...PreviewOption) (*workloadresizerv1.Plan, error) {
	p := previewOf(&workloadresizerv1.PreviewPlansRequest{}, opts).request
	resp, err := c.plans.PreviewPod(ctx, &workloadresizerv1.PreviewPodRequest{
		Namespace: namespace, Pod: pod, Restore: p.GetRestore(), ServerSide: p.GetServerSide(), WhatIf: p.GetWhatIf(),
	})
	if err != nil {
		return nil, err
	}
	return resp.GetPlan(), nil
}

// ExplainPod returns all that explains the size of one pod, of the same moment.
func (c *Client) ExplainPod(ctx context.Context, request *workloadresizerv1.ExplainPodRequest) (*workloadresizerv1.Explanation, error) {
	resp, err := c.explain.ExplainPod(ctx, request)
	return resp.GetExplanation(), err
}

// PreviewManifest returns the sizes that the pods of a manifest would get on each node
// type. Nothing in the manifest has to exist in the cluster.
func (c *Client) PreviewManifest(ctx context.Context, manifest string, opts ...PreviewOption) (*workloadresizerv1.PreviewManifestResponse, error) {
	p := previewOf(&workloadresizerv1.PreviewPlansRequest{}, opts)
	return PreviewManifest(ctx, c.plans, &workloadresizerv1.PreviewManifestRequest{
		Manifest: manifest, NodeTypes: p.nodeTypes, WhatIf: p.request.GetWhatIf(),
	})
}

// PreviewPlans returns what would happen now to each pod that the options select in a
// namespace, or in the cluster if namespace is empty. The call starts when the caller
// ranges over the returned stream.
func (c *Client) PreviewPlans(ctx context.Context, namespace string, opts ...PreviewOption) *PlanStream {
	return c.PreviewSelected(ctx, &workloadresizerv1.PreviewPlansRequest{Namespace: namespace}, opts...)
}

// PreviewSelected is like PreviewPlans for the pods that a request selects; the options add
// to the request.
func (c *Client) PreviewSelected(ctx context.Context, request *workloadresizerv1.PreviewPlansRequest, opts ...PreviewOption) *PlanStream {
	p := previewOf(proto.CloneOf(request), opts)
	return &PlanStream{ctx: ctx, client: c, request: p.request, onProgress: p.onProgress}
}

// MaxManifestBytes is the maximum size of a manifest, in bytes.
const MaxManifestBytes = 1 << 20

// manifestPart is how much of a manifest is sent in one message, in bytes: with the node types
// and the what-if, a message stays below the server's limit of 64 KiB.
const manifestPart = 16 << 10

// PreviewManifest plans the pods of the request's manifest, which may have up to
// MaxManifestBytes. It sends the manifest in parts. Errors are gRPC status errors.
func PreviewManifest(ctx context.Context, plans workloadresizerv1.PlanServiceClient, request *workloadresizerv1.PreviewManifestRequest) (*workloadresizerv1.PreviewManifestResponse, error) {
	stream, err := plans.PreviewManifest(ctx)
	if err != nil {
		return nil, err
	}
	part := &workloadresizerv1.PreviewManifestRequest{NodeTypes: request.GetNodeTypes(), WhatIf: request.GetWhatIf(), Namespace: request.GetNamespace()}
	for rest := request.GetManifest(); ; {
		part.Manifest, rest = cut(rest)
		// The reason why the server ends the call early comes with its response.
		if err := stream.Send(part); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		} else if err != nil || rest == "" {
			return stream.CloseAndRecv()
		}
		part = &workloadresizerv1.PreviewManifestRequest{}
	}
}

// cut splits text after a part that is sent in one message. It splits no character, since
// each message must be valid UTF-8.
func cut(text string) (part, rest string) {
	if len(text) <= manifestPart {
		return text, ""
	}
	at := manifestPart
	for at > manifestPart-utf8.UTFMax && !utf8.RuneStart(text[at]) {
		at--
	}
	return text[:at], text[at:]
}
