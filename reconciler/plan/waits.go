package plan

import "github.com/workload-resizer/workload-resizer/reconciler/contract"

// place is where things have to change for a pod that is left alone.
type place int

const (
	Nowhere place = iota
	InNamespace
	OnNode
)

func Waits(reason contract.Reason) place {
	switch reason {
	case contract.QuotaExceeded, contract.LimitRangeViolation:
		return InNamespace
	case contract.NodeCapacity, contract.NodePressure, contract.ResizeInfeasible, contract.ResizeError:
		return OnNode
	}
	return Nowhere
}
