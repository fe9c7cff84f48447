package pod

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Revert is a resize of one resource that made its pod worse. It is recorded on the pod before
// the pod gets the former size again, so that no crash can lose why.
type Revert struct {
	At        time.Time
	Container string
	Measure   *sizing.Measure
	// Hurt is the size that made the pod worse, and Back the size before it.
	Hurt, Back sizing.Amount
	// Times is how many resizes of the resource were reverted so far, this one included.
	Times   int
	Harm    contract.Harm
	Message string
}

// LimitBack returns the size if the limit alone is reverted, as when the node has no room for the request; false
// if the resize did not lower the limit.
func (r *Revert) LimitBack() (size sizing.Amount, lowered bool) {
	size = sizing.Amount{Request: r.Hurt.Request, Limit: r.Back.Limit}
	return size, size.Limit > r.Hurt.Limit && r.Hurt.Limit != 0
}

// revertText is a Revert in the annotation.
type revertText struct {
	At        time.Time     `json:"at"`
	Container string        `json:"container"`
	Resource  string        `json:"resource"`
	Hurt      string        `json:"hurt"`
	Back      string        `json:"back"`
	Times     int           `json:"times"`
	Harm      contract.Harm `json:"harm"`
	Message   string        `json:"message"`
}

// RevertsText returns the value of the annotation.
func RevertsText(all []Revert) string {
	texts := make([]revertText, len(all))
	for i := range all {
		r := &all[i]
		texts[i] = revertText{r.At.UTC().Truncate(time.Second), r.Container, r.Measure.Name, r.Measure.Show(r.Hurt), r.Measure.Show(r.Back), r.Times, r.Harm, r.Message}
	}
	text, err := json.Marshal(texts)
	if err != nil {
		panic(fmt.Sprintf("pod: marshal reverts: %v", err)) // Unreachable: times have no fraction and valid years.
	}
	return string(text)
}

// writable reports whether JSON can express a time in UTC. In a different zone, its year may be one that JSON can express.
func writable(at time.Time) bool { return at.UTC().Year() >= 0 && at.UTC().Year() <= 9999 }

// mostReverts limits the entries that are read, which are at most two for each container.
const mostReverts = 2048

// revertsOf returns the reverts that a pod records. Only those count that we recorded: users may
// annotate the pods that they create. Where no policy prevents it, they may also write in our name. So the
// annotation may have any content, and no more of it counts than we can have written: harms, for example, are in metrics.
func revertsOf(object *corev1.Pod, h *history) []Revert {
	text := object.Annotations[contract.Reverts]
	if text == "" || !h.reverts {
		return nil
	}
	var texts []revertText
	if err := json.Unmarshal([]byte(text), &texts); err != nil || len(texts) > mostReverts {
		return nil
	}
	all := make([]Revert, 0, len(texts))
	for i := range texts {
		t := &texts[i]
		for _, m := range sizing.Measures {
			hurt, ok := parseAmount(m, t.Hurt)
			back, too := parseAmount(m, t.Back)
			if m.Name == t.Resource && ok && too && slices.Contains(contract.Harms, t.Harm) && writable(t.At) {
				all = append(all, Revert{t.At, t.Container, m, hurt, back, t.Times, t.Harm, Bounded(t.Message)})
			}
		}
	}
	return all
}
