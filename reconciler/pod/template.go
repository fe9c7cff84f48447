package pod

import (
	"encoding/binary"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Template returns a hash of the images of the containers and of the requests and limits that their author wrote, which
// is the same in all processes. It is 0 if some of these are not known, or were adopted.
func (p *Pod) Template() uint64 { return p.template }

// templateOf returns the Template of a pod whose containers have been read.
func (p *Pod) templateOf(spec *corev1.PodSpec) uint64 {
	h := fnv.New64a()
	var number [8]byte
	for i := range p.Containers {
		c := &p.Containers[i]
		image := ""
		if k := i - len(spec.Containers); k >= 0 {
			image = spec.InitContainers[k].Image
		} else {
			image = spec.Containers[i].Image
		}
		h.Write([]byte(c.Name()))
		h.Write([]byte{0})
		h.Write([]byte(image))
		h.Write([]byte{0})
		for _, m := range sizing.Measures {
			original, standing := *m.Of(&c.Original), c.Standings[m.Index]
			if standing.Claim == Lost || standing.Adopted != 0 || original.Request == 0 && m.Of(&c.Spec).Request != 0 {
				return 0
			}
			for _, amount := range [...]int64{original.Request, original.Limit} {
				binary.LittleEndian.PutUint64(number[:], uint64(amount))
				h.Write(number[:])
			}
		}
	}
	return max(1, h.Sum64())
}
