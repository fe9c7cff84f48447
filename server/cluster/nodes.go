package cluster

import (
	"context"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/server/paging"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// ListNodes implements workloadresizerv1.ClusterServiceServer.
func (s *Service) ListNodes(_ context.Context, request *workloadresizerv1.ListNodesRequest) (*workloadresizerv1.ListNodesResponse, error) {
	page, err := paging.Of(request, pageSizes)
	if err != nil {
		return nil, err
	}
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.ListNodesResponse{}
	response.Nodes, response.NextPageToken = paging.Fill(page, s.nodes(request.GetNodeType(), page.After, table.Profiles()[0]))
	return response, nil
}

// nodes returns the nodes of a type, or all nodes, whose names come after one, in their order.
func (s *Service) nodes(nodeType, after string, globals *ratios.Profile) iter.Seq2[string, *workloadresizerv1.NodeSummary] {
	all := slices.Clone(s.config.Reconciler.Cluster.Nodes())
	slices.SortFunc(all, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	return func(yield func(string, *workloadresizerv1.NodeSummary) bool) {
		for _, n := range all {
			if n.Name <= after {
				continue
			}
			summary := s.node(n, globals)
			if nodeType != "" && summary.GetNodeType() != nodeType {
				continue
			}
			if !yield(n.Name, summary) {
				return
			}
		}
	}
}

func (s *Service) node(n *corev1.Node, globals *ratios.Profile) *workloadresizerv1.NodeSummary {
	of := s.config.Reconciler.Cluster
	ruling := s.config.Reconciler.Planner.RuleBy(globals, n, "")
	ready, _ := node.Readiness(n)
	summary := &workloadresizerv1.NodeSummary{
		Name: n.Name, NodeType: ruling.NodeType, Resources: map[string]*workloadresizerv1.NodeShare{},
		Unschedulable: n.Spec.Unschedulable, Ready: ready, CreateTime: values.Timestamp(n.CreationTimestamp.Time),
	}
	if entry, known := globals.Lookup(ruling.NodeType); known && entry.Unused == "" {
		summary.CpuFactor, summary.MemoryFactor = new(entry.CPUFactor.Float64()), new(entry.MemoryFactor.Float64())
	}
	for _, p := range of.On(n.Name) {
		if !p.Finished() {
			summary.Pods++
		}
	}
	has, free := node.Allocatable(n), of.Free(n)
	var share, assumed *headroom.Share
	if s.config.Demands != nil {
		share, assumed = s.config.Demands.Neighbors().Of(n.Name), s.config.Demands.WouldShare(n.Name)
	}
	for _, m := range sizing.Measures {
		of := share
		if of == nil || of.Rests[m.Index] == 0 {
			of = assumed
		}
		if of != nil && of.Rests[m.Index] == 0 {
			of = nil
		}
		resource := values.NodeShare(m, has.Of(m), free.Of(m), of)
		resource.Assumed = of != share && of != nil
		summary.Resources[m.Name] = resource
	}
	return summary
}
