package reconciler

import "github.com/workload-resizer/workload-resizer/reconciler/podtest"

type amounts = podtest.Amounts

var (
	podWith      = podtest.Pod
	annotated    = podtest.Annotated
	managed      = podtest.Managed
	managedBy    = podtest.ManagedBy
	resizeBy     = podtest.ResizeBy
	resizeOf     = podtest.ResizeOf
	amountFields = podtest.AmountFields
	asMade       = podtest.AsMade
	asCreated    = podtest.AsCreated
	asResized    = podtest.AsResized
	asPublished  = podtest.AsPublished
	start        = podtest.Start
	at           = podtest.At
)
