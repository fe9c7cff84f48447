package pod

import (
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// AppliedDemand is what the containers of a pod needed on the baseline according to usage when they were last sized, as an
// annotation of the pod records it. It has only containers of which a resource was sized by usage.
type AppliedDemand []ContainerDemand

// ContainerDemand is what a container needed.
type ContainerDemand struct {
	Name string
	// Amounts are by sizing.Measure.Index; 0 for a resource that was sized by its original.
	Amounts [2]int64
}

// String returns the value of the annotation, e.g. "app cpu 480m memory 1Gi; proxy cpu 20m".
func (d AppliedDemand) String() string {
	var b strings.Builder
	for i := range d {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(d[i].Name)
		for _, m := range sizing.Measures {
			if amount := d[i].Amounts[m.Index]; amount != 0 {
				b.WriteString(" " + m.Name + " " + m.Text(amount))
			}
		}
	}
	return b.String()
}

// Of returns what a container needed; the zero value if it was sized by its originals.
func (d AppliedDemand) Of(container string) ContainerDemand {
	if i := slices.IndexFunc(d, func(c ContainerDemand) bool { return c.Name == container }); i >= 0 {
		return d[i]
	}
	return ContainerDemand{Name: container}
}

// ParseAppliedDemand parses the value of the annotation. It returns nil if the value is invalid.
func ParseAppliedDemand(text string) (d AppliedDemand) {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, "; ") {
		fields := strings.Split(part, " ")
		if len(fields) < 3 || len(fields)%2 == 0 || fields[0] == "" {
			return nil
		}
		c := ContainerDemand{Name: fields[0]}
		for i := 1; i < len(fields); i += 2 {
			at := slices.IndexFunc(sizing.Measures[:], func(m *sizing.Measure) bool { return m.Name == fields[i] })
			if at < 0 {
				return nil
			}
			m := sizing.Measures[at]
			amount, err := m.Parse(fields[i+1])
			if err != nil || amount <= 0 {
				return nil
			}
			c.Amounts[m.Index] = amount
		}
		d = append(d, c)
	}
	return d
}
