package query

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Queries answers what people ask of a cluster, and changes nothing. All methods may be
// called at any time from any goroutine.
type Queries struct {
	// Cluster is what is asked about.
	Cluster *cluster.Cluster
	// Planner is the one that the loop asks.
	Planner *plan.Planner
	// Asker asks the API server for previews; it writes nothing.
	Asker *actuate.Actuator
}

// PodNotFoundError tells that there is no such pod.
type PodNotFoundError struct{ Pod types.NamespacedName }

func (e *PodNotFoundError) Error() string {
	return fmt.Sprintf("there is no pod %q in namespace %q", e.Pod.Name, e.Pod.Namespace)
}
