package plan

import "github.com/workload-resizer/workload-resizer/reconciler/contract"

// Place is where things have to change for a pod that is left alone.
type Place int

const (
	Nowhere Place = iota
	InNamespace
	OnNode
)

// Waits tells where things have to change for a pod that is left alone for a reason.
func Waits(reason contract.Reason) Place {
	switch reason {
	case contract.QuotaExceeded, contract.LimitRangeViolation:
		return InNamespace
	case contract.NodeCapacity, contract.NodePressure, contract.ResizeInfeasible, contract.ResizeError:
		return OnNode
	}
	return Nowhere
}
