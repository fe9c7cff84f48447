package client

import (
	"context"

	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// PreviewOption changes what is planned, or how.
type PreviewOption func(*preview)

type preview struct {
	// request has what options set, for all kinds of previews.
	request    *workloadresizerv1.PreviewPlansRequest
	nodeTypes  []string
	onProgress func(done, total int64)
}

// AsRestored plans as if the pods were to be restored.
func AsRestored() PreviewOption { return func(p *preview) { p.request.Restore = true } }

// ServerSide has the API server asked too, by a dry run.
func ServerSide() PreviewOption { return func(p *preview) { p.request.ServerSide = true } }

// Assuming takes whatIf for true.
func Assuming(whatIf *workloadresizerv1.WhatIf) PreviewOption {
	return func(p *preview) { p.request.WhatIf = whatIf }
}

// OfWorkload plans the pods of one workload, e.g. the Deployment "web"; nil is every
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

// ForNodeTypes plans for these node types alone. It is for PreviewManifest.
func ForNodeTypes(names ...string) PreviewOption {
	return func(p *preview) { p.nodeTypes = names }
}

// OnProgress has progress called with how many plans of how many were sent, at the
// beginning and about every second. It is for PreviewPlans.
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

// PreviewPod returns what would be done with one pod now, and why.
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

// PreviewManifest returns what the pods that a manifest would make would get, on
// each node type. Nothing of it need be in the cluster.
func (c *Client) PreviewManifest(ctx context.Context, manifest string, opts ...PreviewOption) (*workloadresizerv1.PreviewManifestResponse, error) {
	p := previewOf(&workloadresizerv1.PreviewPlansRequest{}, opts)
	return c.plans.PreviewManifest(ctx, &workloadresizerv1.PreviewManifestRequest{
		Manifest: manifest, NodeTypes: p.nodeTypes, WhatIf: p.request.GetWhatIf(),
	})
}

// PreviewPlans asks what would be done now with every pod of a namespace, or of
// the cluster if namespace is empty, that the options select. The call is made
// when the returned stream is ranged over.
func (c *Client) PreviewPlans(ctx context.Context, namespace string, opts ...PreviewOption) *PlanStream {
	return c.PreviewSelected(ctx, &workloadresizerv1.PreviewPlansRequest{Namespace: namespace}, opts...)
}

// PreviewSelected is PreviewPlans for the pods that a request selects; options add
// to it.
func (c *Client) PreviewSelected(ctx context.Context, request *workloadresizerv1.PreviewPlansRequest, opts ...PreviewOption) *PlanStream {
	p := previewOf(proto.CloneOf(request), opts)
	return &PlanStream{ctx: ctx, client: c, request: p.request, onProgress: p.onProgress}
}
