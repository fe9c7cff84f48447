package creation

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
)

// Config configures a Sizer. All fields must be set.
type Config struct {
	Cluster *cluster.Cluster
	Planner *plan.Planner
	// Keys returns the keys that prove what was done.
	Keys  func() *seal.Ring
	Clock clock.PassiveClock
}

// Sizer sizes pods that are being created. It is safe for concurrent use, and makes no calls.
type Sizer struct {
	Config
	fleet fleet
}

// Sized is what to do to a pod that is being created.
type Sized struct {
	// Pod is the pod as it should be created; nil if it is created as it is.
	Pod *corev1.Pod
	// Plan is what the planner decided; nil if it was not asked. Placement is for which node.
	Plan      *plan.Plan
	Placement Placement
	// Why is why the pod does not get a different size; empty if it does.
	Why string
}

// Size returns what to do to a pod that is being created in a namespace, by the request of a uid. It does not change the pod.
func (s *Sizer) Size(object *corev1.Pod, namespace string, request types.UID) Sized {
	now := s.Clock.Now().UTC().Truncate(time.Second)
	asked := object.DeepCopy()
	asked.Namespace = namespace
	keys := s.Keys()
	if raises(asked, keys, now) {
		return Sized{Why: "another controller raises the cpu that the server gave it"}
	}
	// The API server asks again if other webhooks have changed the pod since: the pod is then planned from what its author,
	// or they, wrote.
	authored(asked, keys, now)
	out := s.size(asked, lot(request), keys, now)
	if sameSizesAndRecord(object, asked) {
		return out
	}
	out.Pod = asked
	return out
}

// lot returns the number from 0 up to 1 that a request draws.
func lot(request types.UID) float64 {
	sum := sha256.Sum256([]byte(request))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// size gives a pod the sizes that it needs.
func (s *Sizer) size(asked *corev1.Pod, lot float64, keys *seal.Ring, now time.Time) (out Sized) {
	if !s.Cluster.IsFilled() {
		out.Why = "the cluster has not been read yet" // A LimitRange that is not known might reject the pod.
		return out
	}
	if len(containers(asked)) < len(asked.Spec.Containers)+len(asked.Spec.InitContainers) {
		out.Why = "two of its containers have the same name"
		return out
	}
	rules, known := s.Cluster.Rules()
	if !known {
		out.Why = "the ratios or the holds have not been read yet"
		return out
	}
	of := pod.BeingCreated(asked, "", now)
	profile := rules.Table.Profile(of)
	out.Placement = s.place(&asked.Spec, profile)
	if out.Placement.Node != nil {
		of = pod.BeingCreated(asked, out.Placement.Node.Name, now)
	}
	snapshot := s.Cluster.SnapshotOfNew(of, rules)
	// Plans ask for each container.
	nodes := sync.OnceValue(func() *allowed { return s.allowed(asked, out.Placement.Node) })
	snapshot.Lot, snapshot.Largest = lot, func() node.Resources { return nodes().largest }
	planned := func(nodeType string) *plan.Plan {
		snapshot.CreateFor(nodeType)
		snapshot.Unboosted = false
		p := s.Planner.Plan(snapshot)
		if p.Boosts() && !s.hasRoom(nodes().nodes, p.Requests(of)) {
			// It must not stay pending, nor make an autoscaler add a node, for what it gets where it lands if there is room.
			snapshot.Unboosted = true
			p = s.Planner.Plan(snapshot)
		}
		return p
	}
	switch {
	case out.Placement.NodeType != "":
		out.Plan = planned(out.Placement.NodeType)
	case snapshot.Demand != nil:
		snapshot.Anywhere = true
		out.Plan, out.Placement = s.anywhere(nodes(), of, profile, planned)
	}
	if out.Plan == nil {
		out.Why = "where it will run is not known yet"
		return out
	}
	annotations, sizes, demand := out.Plan.Creation(now)
	if sizes == "" {
		out.Why = whyNot(out.Plan)
		return out
	}
	// Nobody has validated the pod yet: its containers may have names that read like a record.
	if !describes(sizes, out.Plan) {
		out.Why = "no record can describe its containers"
		return out
	}
	signed, err := keys.Sign(seal.SubjectOf(&asked.ObjectMeta, asked.Namespace), seal.Creation{NodeType: out.Plan.NodeType, At: now, Sizes: sizes, Demand: demand})
	if err != nil {
		out.Why = err.Error()
		return out
	}
	annotations[contract.CreatedSizes] = signed
	all := map[string]string{}
	maps.Copy(all, asked.Annotations)
	maps.Copy(all, annotations)
	if err := validation.ValidateAnnotationsSize(all); err != nil {
		out.Why = "its annotations leave no room for the record: " + err.Error() // The API server would reject the pod.
		return out
	}
	sized := asked.DeepCopy()
	apply(sized, out.Plan)
	if !sameOrder(asked, sized) {
		out.Why = "the amounts cannot be rounded without changing how its requests compare with its limits"
		return out
	}
	asked.Spec, asked.Annotations = sized.Spec, all
	return out
}

// whyNot returns why a plan changes no size.
func whyNot(p *plan.Plan) string {
	if len(p.Reasons) == 0 {
		return "it has the size that it needs"
	}
	return string(p.Reasons[0].Code) + ": " + p.Reasons[0].Message
}
