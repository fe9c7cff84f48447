package reconciler

import "github.com/workload-resizer/workload-resizer/reconciler/contract"

// place is where things have to change for a pod that is left alone.
type place int

const (
	nowhere place = iota
	inNamespace
	onNode
)

func waits(reason contract.Reason) place {
	switch reason {
	case contract.QuotaExceeded, contract.LimitRangeViolation:
		return inNamespace
	case contract.NodeCapacity, contract.NodePressure, contract.ResizeInfeasible, contract.ResizeError:
		return onNode
	}
	return nowhere
}
