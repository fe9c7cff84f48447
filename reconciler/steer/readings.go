package steer

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/overload"
	"github.com/workload-resizer/workload-resizer/usage"
)

// read returns what all sources know of each node. A source that fails says nothing.
func (s *Steer) read(ctx context.Context) map[string][]usage.NodeUsage {
	all := map[string][]usage.NodeUsage{}
	for _, source := range s.Sources {
		usages, err := source.ReadNodes(ctx)
		if ctx.Err() != nil {
			return nil
		}
		s.note(ctx, source.Name(), err, "Usage of nodes not read; trying again", "source")
		for _, u := range usages {
			all[u.Node] = append(all[u.Node], u)
		}
	}
	return all
}

// note logs an error unless it is the last one that was logged of the same thing.
func (s *Steer) note(ctx context.Context, of string, err error, message, kind string) {
	if err == nil {
		delete(s.failed, of)
		return
	}
	if text := err.Error(); s.failed[of] != text {
		s.failed[of] = text
		klog.FromContext(ctx).Error(err, message, kind, of)
	}
}

// readingsOf returns the newest readings of a node.
func readingsOf(n *corev1.Node, usages []usage.NodeUsage) (r overload.Readings) {
	has := node.Allocatable(n)
	for _, u := range usages {
		take(&r[overload.CPU], u.At, share(u.CPU, has.CPU))
		take(&r[overload.Memory], u.At, share(u.Memory, has.Memory))
		take(&r[overload.Load], u.At, u.Load)
		take(&r[overload.Pressure], u.At, contended(&u))
	}
	return r
}

// take replaces a reading with a newer one.
func take(r *overload.Reading, at time.Time, value usage.Value) {
	if value.Known && at.After(r.At) {
		*r = overload.Reading{Value: float64(value.N), At: at}
	}
}

// share returns which part of an amount is used.
func share(used usage.Value, of int64) usage.Value {
	if !used.Known || of <= 0 {
		return usage.Value{}
	}
	return usage.ValueOf(float64(used.N) / float64(of))
}

// contended returns the pressure on CPU. While there are fewer tasks than vCPUs, it comes from the limits of single containers,
// and the node has CPU left.
func contended(u *usage.NodeUsage) usage.Value {
	if !u.Load.Known {
		return usage.Value{}
	}
	if u.Pressure.Known && u.Load.N < 1 {
		return usage.ValueOf(0)
	}
	return u.Pressure
}

// works reports whether new pods may start on a node.
func works(n *corev1.Node) bool {
	has := node.Allocatable(n)
	if n.Spec.Unschedulable || n.DeletionTimestamp != nil || has.CPU <= 0 || has.Memory <= 0 {
		return false
	}
	ready, _ := node.Readiness(n)
	return ready
}
