package safety

import "github.com/workload-resizer/workload-resizer/reconciler/contract"

// Veto is the reason why a pod must not be resized.
type Veto struct {
	Reason  contract.Reason
	Message string
}
