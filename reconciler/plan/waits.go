package plan

import "github.com/workload-resizer/workload-resizer/reconciler/contract"

// Place is where something must change before a skipped pod can be resized.
type Place int

const (
	Nowhere Place = iota
	InNamespace
	OnNode
)

// Waits returns where something must change before a pod that was skipped for the reason can
// be resized.
func Waits(reason contract.Reason) Place {
	switch reason {
	case contract.QuotaExceeded, contract.LimitRangeViolation:
		return InNamespace
	case contract.NodeCapacity, contract.NodePressure, contract.RevertBlocked, contract.ResizeInfeasible, contract.ResizeError:
		return OnNode
	}
	return Nowhere
}
