package plan

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// podPatch is a strategic merge patch of a pod.
type podPatch struct {
	Metadata metadataPatch `json:"metadata"`
	Spec     *specPatch    `json:"spec,omitempty"`
}

type metadataPatch struct {
	UID             types.UID          `json:"uid"`
	ResourceVersion string             `json:"resourceVersion,omitempty"`
	Annotations     map[string]*string `json:"annotations,omitempty"` // null removes one.
}

type specPatch struct {
	Containers     []containerPatch `json:"containers,omitempty"`
	InitContainers []containerPatch `json:"initContainers,omitempty"`
}

type containerPatch struct {
	Name      string         `json:"name"`
	Resources resourcesPatch `json:"resources"`
}

// resourcesPatch contains only cpu and memory: we must not change other resources or claims.
type resourcesPatch struct {
	Requests amountsPatch `json:"requests,omitzero"`
	Limits   amountsPatch `json:"limits,omitzero"`
}

type amountsPatch struct {
	CPU    string `json:"cpu,omitempty"`
	Memory string `json:"memory,omitempty"`
}

// Patch returns the strategic merge patch for an action of the plan other than StepClean. It
// applies only to the given resource version of the pod; empty for any version.
func (p *Plan) Patch(a Action, resourceVersion string) []byte {
	patch := podPatch{Metadata: metadataPatch{UID: p.UID, ResourceVersion: resourceVersion, Annotations: a.Annotations}, Spec: a.sizes}
	body, err := json.Marshal(patch)
	if err != nil {
		// Unreachable: the patch contains only strings.
		panic(fmt.Sprintf("plan: marshal patch: %v", err))
	}
	return body
}

// sizesPatch sets only the amounts that differ, in the containers that differ.
func (d *draft) sizesPatch() *specPatch {
	spec := &specPatch{}
	for i := range d.Containers {
		c := &d.Containers[i]
		if c.Desired == c.Current {
			continue
		}
		patch := containerPatch{Name: c.Name}
		r := &patch.Resources
		r.Requests.CPU, r.Limits.CPU = changed(c.Current.CPU, c.Desired.CPU, sizing.CPUText)
		r.Requests.Memory, r.Limits.Memory = changed(c.Current.Memory, c.Desired.Memory, sizing.MemoryText)
		if request, limit := d.makesWhole(i); request || limit {
			r.makeWhole(c.Desired.Memory, request, limit)
		}
		if c.Sidecar {
			spec.InitContainers = append(spec.InitContainers, patch)
		} else {
			spec.Containers = append(spec.Containers, patch)
		}
	}
	return spec
}

// makesWhole reports whether the patch must set the memory request or limit to whole bytes, although
// it does not change them. After a change to any size of a container, the kubelet has recorded its memory
// in whole bytes, and compares that with the exact quantity in the spec: a resize to 1.1Gi never ends. In
// a container without any other change, the kubelet would not even notice.
func (d *draft) makesWhole(i int) (request, limit bool) {
	request, limit = d.parts[i].of.Fractions()
	return request && d.mayOwn(i, sizing.Memory.Request), limit && d.mayOwn(i, sizing.Memory.Limit)
}

// mayOwn reports whether a resize may set an amount of memory to its current value. That makes us the
// one who set it, which needs a recorded original.
func (d *draft) mayOwn(i int, which contract.Original) bool {
	has, bit := &d.parts[i], uint8(1)<<which
	s := &has.standings[sizing.Memory.Index]
	switch {
	case s.Claim == pod.Scales:
	case s.Claim == pod.LimitStays && which == sizing.Memory.Request:
	default:
		return false
	}
	// Only a plan to size a pod first records what is missing.
	return d.Kind == Sizes || (has.unannotated|has.takesOver)&bit == 0
}

func (r *resourcesPatch) makeWhole(to sizing.Amount, request, limit bool) {
	if request {
		r.Requests.Memory = sizing.MemoryText(to.Request)
	}
	if limit {
		r.Limits.Memory = sizing.MemoryText(to.Limit)
	}
}

func changed(from, to sizing.Amount, text func(int64) string) (request, limit string) {
	if from.Request != to.Request {
		request = text(to.Request)
	}
	if from.Limit != to.Limit {
		limit = text(to.Limit)
	}
	return request, limit
}
