package push

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/usage"
)

// gone is for how long nothing has come from a node until it is forgotten: it may no longer exist.
const gone = time.Hour

// PushNode replaces what is known of a node. It must come from the node itself, so that there are no more than the cluster has.
func (s *Source) PushNode(u usage.NodeUsage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[u.Node] = u
}

// ReadNodes implements usage.NodeSource.
func (s *Source) ReadNodes(context.Context) ([]usage.NodeUsage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := time.Time{}
	for _, u := range s.nodes {
		if u.At.After(newest) {
			newest = u.At
		}
	}
	maps.DeleteFunc(s.nodes, func(_ string, u usage.NodeUsage) bool { return newest.Sub(u.At) > gone })
	return slices.Collect(maps.Values(s.nodes)), nil
}
