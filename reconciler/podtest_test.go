package reconciler

import "github.com/workload-resizer/workload-resizer/reconciler/podtest"

type amounts = podtest.Amounts

var (
	podWith       = podtest.Pod
	annotated     = podtest.Annotated
	managed       = podtest.Managed
	managedBy     = podtest.ManagedBy
	resizeBy      = podtest.ResizeBy
	resizeOf      = podtest.ResizeOf
	amountFields  = podtest.AmountFields
	asMade        = podtest.AsMade
	asCreated     = podtest.AsCreated
	asResized     = podtest.AsResized
	asPublished   = podtest.AsPublished
	start         = podtest.Start
	at            = podtest.At
	table         = podtest.Table
	node          = podtest.Node
	guaranteed    = podtest.Guaranteed
	burstable     = podtest.Burstable
	said          = podtest.Said
	seen          = podtest.Seen
	withStatus    = podtest.WithStatus
	sizedForN4    = podtest.SizedForN4
	withSecond    = podtest.WithSecond
	sizesOf       = podtest.SizesOf
	containersOf  = podtest.ContainersOf
	sidecarResize = podtest.SidecarResize
	booted        = podtest.Booted
)

const (
	gi        = podtest.GiB
	staticCPU = podtest.StaticCPU
)
