package query

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Queries answers questions about a cluster, and changes nothing. All methods are safe for
// concurrent use at any time.
type Queries struct {
	// Cluster is the cluster that the queries are about.
	Cluster *cluster.Cluster
	// Planner is the planner that the loop uses.
	Planner *plan.Planner
	// Asker asks the API server for previews; it writes nothing.
	Asker *actuate.Actuator
	// Waits says why a pod that nothing prevents from being resized is not resized yet; empty if it does not
	// wait. If Waits is nil, no pod does.
	Waits func(*plan.Plan) string
	// Eviction describes when the pod of a plan is evicted, or why it is not; empty if nothing requires it. If Eviction is
	// nil, nothing does.
	Eviction func(*plan.Plan) string
	// Applied returns the table in effect as if all rules applied usage; nil if no rule lets pods share, or if Applied is nil.
	Applied func() *ratios.Table
}

// PodNotFoundError means that the pod does not exist.
type PodNotFoundError struct{ Pod types.NamespacedName }

func (e *PodNotFoundError) Error() string {
	return fmt.Sprintf("there is no pod %q in namespace %q", e.Pod.Name, e.Pod.Namespace)
}
