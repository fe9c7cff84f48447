package pod

import (
	"encoding/json"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

const (
	// startupCPUBoost is the label of a pod whose cpu kube-startup-cpu-boost raises while the pod starts, with the name of the
	// StartupCPUBoost, and the annotation with the sizes before. It removes both when it lowers the cpu.
	startupCPUBoost = "autoscaling.x-k8s.io/startup-cpu-boost"
	// vpaStartupBoost begins the annotation with the sizes of a container before the admission controller of the
	// VerticalPodAutoscaler raised its cpu. The updater removes it when it lowers the cpu.
	vpaStartupBoost = "vpaCpuStartupBoost/"
)

// StartupCPUBoost is a StartupCPUBoost that raises the cpu of containers while a pod starts.
type StartupCPUBoost struct {
	Name   string
	before beforeBoost
}

// StartupCPUBoost returns the StartupCPUBoost of the pod; it raises nothing if there is none. It parses the annotation.
func (p *Pod) StartupCPUBoost() StartupCPUBoost {
	name, ok := p.Label(startupCPUBoost)
	if !ok { // Most pods have none.
		return StartupCPUBoost{}
	}
	text, _ := p.Annotation(startupCPUBoost)
	return StartupCPUBoost{name, beforeStartupCPUBoost(name, text)}
}

// Raises reports whether it raises the cpu of a container, which is then not what its author wrote.
func (b *StartupCPUBoost) Raises(container string) bool {
	return b.before.of(contract.CPURequest, container) != "" || b.before.of(contract.CPULimit, container) != ""
}

// VPABoosts reports whether a VerticalPodAutoscaler has raised the cpu of a container while the pod starts.
func (p *Pod) VPABoosts(container string) bool {
	_, ok := p.Annotation(vpaStartupBoost + container)
	return ok
}

// beforeBoost is what kube-startup-cpu-boost records of containers whose cpu it raises.
type beforeBoost struct {
	State                          string
	InitCPURequests, InitCPULimits map[string]string
}

// beforeStartupCPUBoost reads the annotation of a pod with the label of a StartupCPUBoost; it is empty unless that lasts.
func beforeStartupCPUBoost(name, text string) (before beforeBoost) {
	if name == "" || text == "" || json.Unmarshal([]byte(text), &before) != nil || before.State == "Reverted" {
		return beforeBoost{}
	}
	return before
}

func (b *beforeBoost) of(which contract.Original, container string) string {
	if which == contract.CPULimit {
		return b.InitCPULimits[container]
	}
	return b.InitCPURequests[container]
}

// raisers are the controllers that raised cpu of a pod while it was being created, and lower it when the pod has started.
type raisers struct {
	annotations map[string]string
	// vpa means that a VerticalPodAutoscaler recorded anything.
	vpa bool
	beforeBoost
}

// raisersOf reads what such controllers record. It counts only if they wrote it while the pod was being created: others cannot
// know what its author wrote.
func raisersOf(labels, annotations map[string]string, h *history) *raisers {
	text, vpa := annotations[startupCPUBoost], false
	for key := range annotations {
		vpa = vpa || strings.HasPrefix(key, vpaStartupBoost)
	}
	if text == "" && !vpa || !h.raisedAtCreation() {
		return nil
	}
	return &raisers{annotations, vpa, beforeStartupCPUBoost(labels[startupCPUBoost], text)}
}

// before returns who raised an amount of a container, and what it was before; 0 if nobody did.
func (r *raisers) before(container string, which contract.Original) (amount int64, by string) {
	if r == nil {
		return 0, ""
	}
	if text := r.of(which, container); text != "" {
		amount, _ = sizing.ParseCPU(text) // 0 if it cannot be read.
		return amount, "kube-startup-cpu-boost"
	}
	return r.ofVPA(container, which), "a VerticalPodAutoscaler"
}

// ofVPA returns what a VerticalPodAutoscaler gives an amount of a container when it ends its boost of cpu, which is what the
// amount was before; 0 if there is none. It sets memory, too.
func (r *raisers) ofVPA(container string, which contract.Original) int64 {
	if r == nil || !r.vpa {
		return 0
	}
	var before struct{ Requests, Limits struct{ CPU, Memory string } }
	if json.Unmarshal([]byte(r.annotations[vpaStartupBoost+container]), &before) != nil {
		return 0
	}
	text := [...]string{before.Requests.CPU, before.Limits.CPU, before.Requests.Memory, before.Limits.Memory}[which]
	amount, _ := sizing.MeasureOf(which).Parse(text) // 0 if it cannot be read.
	return amount
}

// raised is an amount that another controller raised while the pod was being created: what its author wrote, and what that
// controller sets it to when the pod has started.
type raised struct{ original, lowered int64 }

// Raised returns what the author wrote of an amount that another controller raised while the pod was being created, and to what
// that controller sets it when the pod has started; zeros for others. Memory counts if it has a different size by then.
func (c *Container) Raised(which contract.Original) (original, lowered int64) {
	of := c.rarely().raised[which]
	return of.original, of.lowered
}

// Raises has a bit (1 << contract.Original) for each amount that another controller raised, and of which that must be recorded.
func (c *Container) Raises() uint8 { return c.rarely().raises }

// Returned has a bit (1 << contract.Original) for each amount that this controller has set back since.
func (c *Container) Returned() uint8 { return c.rarely().returned }

// raised determines the original of cpu that another controller raised while the pod was being created, if it did. The
// amount that it will be lowered to is recorded as adopted while that can be known: nothing else shows later that it is what the
// author wrote.
func (o *originals) raised(c *Container, i int, which contract.Original, current int64) (p part, ok bool) {
	adopted, recorded := o.adopted(c, i, which)
	lowered, by := o.raisers.before(c.Name(), which)
	original := lowered
	switch {
	case lowered != 0 && lowered != current:
		if authored, made := o.made.of(c.Name(), i, which, lowered); made {
			original = authored
		}
	case recorded && adopted != current && current != 0:
		// It says no longer that it raises it, and has not lowered it yet.
		if original, ok, _ = o.read(c, i, which, sizing.CPU); !ok {
			return part{}, false
		}
		lowered, by = adopted, "a controller that raises cpu of pods that start"
	default:
		return part{}, false
	}
	o.raises(c, i, which, raised{original, lowered})
	return part{original: original, finding: finding{Standing: Standing{Claim: Theirs}, manager: by}}, true
}

// adopted returns the amount that we recorded as adopted, if we did.
func (o *originals) adopted(c *Container, i int, which contract.Original) (amount int64, recorded bool) {
	text, _ := o.adoptedText(c, which)
	amount, _ = sizing.MeasureOf(which).Parse(text) // 0 if it is missing or cannot be read.
	return amount, amount != 0 && o.history.adopted(i, which)
}

// raises notes what the author wrote of an amount, and what another controller will set it to, and whether that must be recorded.
func (o *originals) raises(c *Container, i int, which contract.Original, of raised) {
	c.alter().raised[which] = of
	there, _ := which.In(o.annotations, c.Name())
	known, _ := sizing.MeasureOf(which).Parse(there)
	adopted, recorded := o.adopted(c, i, which)
	// An original that only the creator or admission wrote has no other writer, and the same text would give it none.
	if writer, _ := o.history.writerOf(i, which); !recorded || adopted != of.lowered || known != of.original || writer != "" && writer != contract.FieldManager {
		c.alter().raises |= 1 << which
		c.note(which, writer, there)
		if !recorded {
			c.alter().adopted[which], _ = o.adoptedText(c, which)
		}
	}
}

// setBack notes an amount of memory that a VerticalPodAutoscaler will set back when it ends its boost of cpu.
func (o *originals) setBack(c *Container, i int, which contract.Original, current, original int64) {
	if to := o.raisers.ofVPA(c.Name(), which); to != 0 && to != current && original != 0 {
		o.raises(c, i, which, raised{original, to})
		c.Outdated &^= 1 << which
	}
}
