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
	"github.com/workload-resizer/workload-resizer/server/usage"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// ListNodes implements workloadresizerv1.ClusterServiceServer.
func (s *Service) ListNodes(ctx context.Context, request *workloadresizerv1.ListNodesRequest) (*workloadresizerv1.ListNodesResponse, error) {
	page, err := paging.Of(request, pageSizes)
	if err != nil {
		return nil, err
	}
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	release, err := s.config.Slots.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	response := &workloadresizerv1.ListNodesResponse{}
	response.Nodes, response.NextPageToken = paging.Fill(page, s.nodes(request, page.After, table))
	return response, nil
}

// nodes returns the nodes that a request selects whose names come after one, in their order.
func (s *Service) nodes(request *workloadresizerv1.ListNodesRequest, after string, table *ratios.Table) iter.Seq2[string, *workloadresizerv1.NodeSummary] {
	name, nodeType := request.GetName(), request.GetNodeType()
	all := slices.DeleteFunc(slices.Clone(s.config.Reconciler.Cluster.Nodes()), func(n *corev1.Node) bool {
		return n.Name <= after || name != "" && n.Name != name
	})
	slices.SortFunc(all, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	return func(yield func(string, *workloadresizerv1.NodeSummary) bool) {
		for _, n := range all {
			of := s.config.Reconciler.Planner.RuleBy(table.Profiles()[0], n, "").NodeType
			if nodeType != "" && of != nodeType {
				continue
			}
			if !yield(n.Name, s.node(n, of, table)) {
				return
			}
		}
	}
}

// node returns a node of a type.
func (s *Service) node(n *corev1.Node, nodeType string, table *ratios.Table) *workloadresizerv1.NodeSummary {
	of := s.config.Reconciler
	ready, _ := node.Readiness(n)
	summary := &workloadresizerv1.NodeSummary{
		Name: n.Name, NodeType: nodeType, Resources: map[string]*workloadresizerv1.NodeShare{},
		Unschedulable: n.Spec.Unschedulable, Ready: ready, CreateTime: values.Timestamp(n.CreationTimestamp.Time), Overload: of.OverloadOf(n.Name),
	}
	if entry, known := table.Profiles()[0].Lookup(nodeType); known && entry.Unused == "" {
		summary.CpuFactor, summary.MemoryFactor = new(entry.CPUFactor.Float64()), new(entry.MemoryFactor.Float64())
	}
	for _, p := range of.Cluster.On(n.Name) {
		if !p.Finished() {
			summary.Pods++
		}
	}
	var share, assumed *headroom.Share
	if demands := s.config.Demands; demands != nil {
		takes := demands.On(n.Name, table)
		summary.Used, summary.UnknownPods = usage.Amounts(takes.Used), int64(takes.Unknown)
		share, assumed = demands.Neighbors().Of(n.Name), demands.WouldShare(n.Name)
	}
	has, free := node.Allocatable(n), of.Cluster.Free(n)
	for _, m := range sizing.Measures {
		of, would := share, assumed != nil && assumed.Rests[m.Index] > 0
		if would = would && (share == nil || share.Rests[m.Index] == 0); would {
			of = assumed
		}
		summary.Resources[m.Name] = values.NodeShare(m, has.Of(m), free.Of(m), of)
		summary.Resources[m.Name].Assumed = would
	}
	return summary
}
