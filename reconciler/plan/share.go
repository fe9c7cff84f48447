package plan

import (
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// sharedType returns the type of the nodes whose containers share with those of the pod; empty if the pod has a node.
func (d *draft) sharedType(s *Snapshot) string {
	if s.Creating || s.imagines() {
		return d.NodeType
	}
	return ""
}

// Shared returns the parts of the demand of a resource that it shares with its neighbors; false if it shares nothing.
func (p *Plan) Shared(container int, m *sizing.Measure) (parts need.Shared, shares bool) {
	return p.Containers[container].Needs[m.Index].Shared(p.guaranteed())
}

// Shares reports whether any container of the pod shares a resource with its neighbors.
func (p *Plan) Shares(m *sizing.Measure) bool {
	for i := range p.Containers {
		if _, shares := p.Shared(i, m); shares {
			return true
		}
	}
	return false
}

// Part is what a container needs of its node: most of the time, and at most. Uses is how much memory it uses now; 0 if that is
// not known.
type Part struct{ Steady, Peak, Uses node.Resources }

// Parts returns what the containers of a pod need of its node whose sizes follow usage, and what other containers request.
// These are all of them if the pod is held, or must not be resized. A freeze, and a start that is not complete, end, so they do
// not count.
func (p *Planner) Parts(s *Snapshot) (containers []Part, others node.Resources) {
	others = node.Requests(s.Pod)
	if s.Demand == nil || s.Restore || s.Degraded != nil || p.vetoed(s, contract.Frozen, contract.NotRunning) != nil {
		return nil, others
	}
	all := *s
	all.Demand = entire{s.Demand}
	d := p.begin(&all)
	containers = make([]Part, len(d.Containers))
	for i := range d.Containers {
		c := &d.Containers[i]
		containers[i] = Part{d.atShare(c, 0), d.atShare(c, 1), node.Resources{Memory: c.memory.Used}}
		others = others.Minus(node.RequestsOf(c.Current))
	}
	d.done()
	return containers, others.AtLeast(node.Resources{})
}

// entire is a demand of which all is asked, whatever the share.
type entire struct{ need.Demand }

// Share implements need.Demand.
func (entire) Share(string) ([2]float64, bool) { return [2]float64{1, 1}, true }

// atShare returns what a container would request of the node with a share of its rest. A resource that does not follow usage
// keeps what it has.
func (d *draft) atShare(c *ContainerPlan, share float64) node.Resources {
	as := c.Current
	for _, m := range sizing.Measures {
		if n := c.Needs[m.Index]; n.Recommended != nil && d.factor(m) != (sizing.Factor{}) {
			n.Share = share
			*m.Of(&as), _ = n.On(m, d.factor(m), d.guaranteed())
		}
	}
	return node.RequestsOf(as)
}
