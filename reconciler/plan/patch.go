package plan

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

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

// Patch returns the strategic merge patch for a write of the plan other than StepClean. It
// applies only to the given resource version of the pod; empty for any version.
func (p *Plan) Patch(w Write, resourceVersion string) []byte {
	patch := podPatch{Metadata: metadataPatch{UID: p.UID, ResourceVersion: resourceVersion, Annotations: w.Annotations}}
	if w.Step.Resizes() {
		patch.Spec = p.sizesPatch()
	}
	body, err := json.Marshal(patch)
	if err != nil {
		// Unreachable: the patch contains only strings.
		panic(fmt.Sprintf("plan: marshal patch: %v", err))
	}
	return body
}

// sizesPatch sets only the amounts that differ, in the containers that differ.
func (p *Plan) sizesPatch() *specPatch {
	spec := &specPatch{}
	for i := range p.Containers {
		c := &p.Containers[i]
		if c.Desired == c.Current {
			continue
		}
		patch := containerPatch{Name: c.Name}
		r := &patch.Resources
		r.Requests.CPU, r.Limits.CPU = changed(c.Current.CPU, c.Desired.CPU, sizing.CPUText)
		r.Requests.Memory, r.Limits.Memory = changed(c.Current.Memory, c.Desired.Memory, sizing.MemoryText)
		if c.Sidecar {
			spec.InitContainers = append(spec.InitContainers, patch)
		} else {
			spec.Containers = append(spec.Containers, patch)
		}
	}
	return spec
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
