package safety

import "github.com/workload-resizer/workload-resizer/reconciler/contract"

// Veto says why a pod must be left alone.
type Veto struct {
	Reason  contract.Reason
	Message string
}
