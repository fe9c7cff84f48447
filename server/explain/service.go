package explain

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/reconciler/recorder"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/holds"
	"github.com/workload-resizer/workload-resizer/server/manifests"
	ratioservice "github.com/workload-resizer/workload-resizer/server/ratios"
	"github.com/workload-resizer/workload-resizer/server/resizes"
	"github.com/workload-resizer/workload-resizer/server/translate"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// Config configures a Service. All fields must be set.
type Config struct {
	Reconciler *reconciler.Reconciler
	// Ratios has the sources of ratios.
	Ratios *ratioservice.Service
	// Viewer determines what callers can see, and Rights what they may do; an access.Access implements both.
	Viewer access.Viewer
	Rights access.Rights
}

// Service explains the sizes of pods.
type Service struct {
	workloadresizerv1.UnimplementedExplainServiceServer
	config Config
}

// New returns a Service.
func New(config Config) *Service { return &Service{config: config} }

// Register serves the ExplainService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterExplainServiceServer(r, s)
}

// ExplainPod implements workloadresizerv1.ExplainServiceServer.
func (s *Service) ExplainPod(ctx context.Context, request *workloadresizerv1.ExplainPodRequest) (*workloadresizerv1.ExplainPodResponse, error) {
	of, err := selection(request)
	if err != nil {
		return nil, err
	}
	if err := access.MustSee(s.config.Viewer.View(ctx), of.Namespace); err != nil {
		return nil, err
	}
	e, err := s.config.Reconciler.Explain(ctx, of)
	switch {
	case err != nil:
		return nil, translate.Error(err)
	case e == nil && of.Pod != "":
		return nil, translate.Error(&query.PodNotFoundError{Pod: types.NamespacedName{Namespace: of.Namespace, Name: of.Pod}})
	case e == nil:
		return nil, rpcerror.NotFound(rpcerror.PodNotFound, "pod", of.Namespace, noPods(request))
	}
	return &workloadresizerv1.ExplainPodResponse{Explanation: s.explanation(ctx, e)}, nil
}

// selection reads which pods the request selects.
func selection(request *workloadresizerv1.ExplainPodRequest) (of query.Selection, err error) {
	of = query.Selection{Namespace: request.GetNamespace(), Pod: request.GetPod()}
	subjects := 0
	if of.Pod != "" {
		subjects++
	}
	if w := request.GetWorkload(); w != nil {
		subjects++
		of.Workload = workload.Workload{Kind: w.GetKind(), Name: w.GetName()}
	}
	if of.Labels, err = translate.Selector(request.GetLabelSelector()); err != nil {
		return of, err
	}
	if !of.Labels.Empty() { // A blank would select all pods.
		subjects++
	}
	if subjects != 1 {
		return of, rpcerror.BadField("pod", "is one way to say which pod: set exactly one of pod, workload and label_selector")
	}
	return of, nil
}

// noPods returns why no pod was found.
func noPods(request *workloadresizerv1.ExplainPodRequest) string {
	if w := request.GetWorkload(); w != nil {
		// Workloads are known only by their pods.
		return fmt.Sprintf("no pods found in namespace %s of %s/%s: check the name and the namespace, or whether it is scaled to zero", request.GetNamespace(), strings.ToLower(w.GetKind()), w.GetName())
	}
	return fmt.Sprintf("no pods found in namespace %s with labels %s: check the labels and the namespace", request.GetNamespace(), request.GetLabelSelector())
}

// explanation returns what the caller may see of an explanation.
func (s *Service) explanation(ctx context.Context, e *query.Explanation) *workloadresizerv1.Explanation {
	out := &workloadresizerv1.Explanation{
		Pods: int64(e.Pods), Plan: manifests.Message(e.Plan), Steps: steps(e.Plan), ReplanTime: values.Timestamp(e.Plan.ReplanAt), Eviction: e.Plan.Eviction, Overload: s.config.Reconciler.OverloadOf(e.Plan.Node), Unknown: map[string]string{},
	}
	if owners := e.Plan.Workloads; len(owners) > 0 {
		counts := recorder.CountsFor(e.Plan.Pod.Namespace, owners)
		out.Workload = &workloadresizerv1.Workload{Kind: counts.Kind, Name: counts.Name}
	}
	if e.WithoutHolds != nil {
		out.PlanWithoutHolds = manifests.Message(e.WithoutHolds)
	}
	sees := func(right access.Right, namespace string, parts ...string) bool {
		err := s.config.Rights.Require(ctx, right, namespace)
		for _, part := range parts {
			if err != nil {
				out.Unknown[part] = status.Convert(err).Message()
			}
		}
		return err == nil
	}
	if namespace := e.Plan.Pod.Namespace; sees(access.Right{Verb: "list", Resource: "holds"}, namespace, "holds", "freeze") {
		out.Freeze = translate.Freeze(e.Freeze)
		for _, h := range e.Holds {
			out.Holds = append(out.Holds, holds.Message(h))
		}
	}
	if e.Resized != nil && sees(access.Right{Verb: "get", Resource: "resizes"}, e.Plan.Pod.Namespace, "resize") {
		out.Resize = resizes.Message(e.Resized)
	}
	if sees(access.Right{Verb: "list", Resource: "ratios"}, "", "bounds", "sources") {
		out.Bounds, out.Sources = ratioservice.Bounds(e.Profile.Bounds), s.config.Ratios.Sources()
	}
	if sees(access.Right{Verb: "get", Resource: "ratios"}, "", "ratio", "baseline") {
		out.Ratio, out.Baseline = ratio(e.Profile, e.Plan.NodeType), ratio(e.Profile, e.Profile.Baseline)
	}
	out.Remedies, out.Shares = remedies(e, out.GetSources()), s.shares(e.Plan, e.Applied)
	return out
}

// shares returns what the pods on the node of a plan share, by the names of the resources; nil if the pod shares nothing. applied
// is the plan if its rule applied usage; nil if that changes nothing. If only that shares a resource, it is what they would share.
func (s *Service) shares(p, applied *plan.Plan) map[string]*workloadresizerv1.NodeShare {
	on, demands := s.config.Reconciler.Cluster.NodeNamed(p.Node), s.config.Reconciler.Demands
	if on == nil || demands == nil {
		return nil
	}
	has, free := node.Allocatable(on), s.config.Reconciler.Cluster.Free(on)
	all := map[string]*workloadresizerv1.NodeShare{}
	for _, m := range sizing.Measures {
		share, assumed := demands.Neighbors().Of(p.Node), false
		if applied != nil && !p.Shares(m) && applied.Shares(m) {
			share, assumed = demands.WouldShare(p.Node), true
		}
		if share == nil || !assumed && !p.Shares(m) {
			continue
		}
		all[m.Name] = values.NodeShare(m, has.Of(m), free.Of(m), share)
		all[m.Name].Assumed = assumed
	}
	return all
}

// ratio returns the ratio of a node type for the pods of a profile; nil if it has none.
func ratio(of *ratios.Profile, nodeType string) *workloadresizerv1.Ratio {
	entry, ok := of.Lookup(nodeType)
	if !ok {
		return nil
	}
	return ratioservice.Message(of.Baseline, entry)
}
