package pod

import (
	"strconv"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// AppliedSizes is what the last resize of a pod changed, as an annotation of the pod records it. The
// annotation is written after the resize, so a pod may have different sizes: then a later resize was not
// annotated.
type AppliedSizes []ContainerSizes

// ContainerSizes is what the last resize changed in a container.
type ContainerSizes struct {
	Name string
	// Restarts is how often the container had restarted before the resize.
	Restarts int32
	// From and To are the sizes before and after the resize. They are equal for a resource that
	// it did not change.
	From, To sizing.Container
	// Since is when a resource that it did not change had been changed last, by sizing.Measure.Index, in UTC; the zero
	// time if that is not recorded.
	Since [2]time.Time
	// Boost is whether the cpu after the resize is boosted because the container starts.
	Boost Boost
}

// Boost is what a resize has to do with the boost of cpu while a container starts.
type Boost uint8

const (
	// NoBoost: the cpu after the resize is not boosted, nor was the one before.
	NoBoost Boost = iota
	// Boosted: it is boosted. From is the size before the boost.
	Boosted
	// BoostEnded: the one before the resize was boosted. From is the size before the boost.
	BoostEnded
)

// boostMarks follow the amounts of cpu.
var boostMarks = [...]string{NoBoost: "", Boosted: "+boost", BoostEnded: "-boost"}

// String returns the value of the annotation, e.g.
// "app 3 cpu 1/2>800m/1600m memory 1Gi/2Gi@2026-11-20T10:00:00Z; proxy 0 cpu 100m". Each container has its name, its
// restarts, and the request and limit of each resource, possibly with the time when they changed last. Cpu that is boosted
// while a container starts has a mark, e.g. "cpu 1>3+boost", and so has the resize that ends that, "cpu 1>800m-boost".
func (r AppliedSizes) String() string {
	var b strings.Builder
	for i := range r {
		c := &r[i]
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(c.Name + " " + strconv.Itoa(int(c.Restarts)))
		for _, m := range sizing.Measures {
			from, to := *m.Of(&c.From), *m.Of(&c.To)
			if to.Request == 0 {
				continue
			}
			b.WriteString(" " + m.Name + " ")
			if from != to {
				b.WriteString(m.Show(from) + ">")
			}
			b.WriteString(m.Show(to))
			if m == sizing.CPU {
				b.WriteString(boostMarks[c.Boost])
			}
			if since := c.Since[m.Index]; !since.IsZero() {
				b.WriteString(sinceMark + since.Format(time.RFC3339))
			}
		}
	}
	return b.String()
}

// sinceMark is before the time when an amount changed last.
const sinceMark = "@"

// Of returns what the annotation says about a container, and whether it says anything. It most likely is at an index.
func (r AppliedSizes) Of(container string, likely int) (ContainerSizes, bool) {
	if likely < len(r) && r[likely].Name == container {
		return r[likely], true // A search for each of a thousand containers takes long.
	}
	for i := range r {
		if r[i].Name == container {
			return r[i], true
		}
	}
	return ContainerSizes{}, false
}

// ParseAppliedSizes parses the value of the annotation. It returns nil if the value is invalid.
func ParseAppliedSizes(text string) (r AppliedSizes) {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, "; ") {
		fields := strings.Split(part, " ")
		if len(fields) < 2 || len(fields)%2 != 0 || fields[0] == "" {
			return nil
		}
		restarts, err := strconv.ParseInt(fields[1], 10, 32)
		if err != nil || restarts < 0 {
			return nil
		}
		c := ContainerSizes{Name: fields[0], Restarts: int32(restarts)}
		for i := 2; i < len(fields); i += 2 {
			if !c.parse(fields[i], fields[i+1]) {
				return nil
			}
		}
		r = append(r, c)
	}
	return r
}

// parse parses the amounts of a resource, and reports whether they are valid.
func (c *ContainerSizes) parse(resource, amounts string) bool {
	for _, m := range sizing.Measures {
		if m.Name != resource {
			continue
		}
		amounts, since, unchanged := strings.Cut(amounts, sinceMark)
		if unchanged {
			at, err := time.Parse(time.RFC3339, since)
			if err != nil {
				return false
			}
			c.Since[m.Index] = at.UTC()
		}
		for boost, mark := range boostMarks[1:] {
			if all, ok := strings.CutSuffix(amounts, mark); ok && m == sizing.CPU {
				amounts, c.Boost = all, NoBoost+1+Boost(boost)
				break
			}
		}
		from, to, changed := strings.Cut(amounts, ">")
		if !changed {
			to = from
		}
		var ok, too bool
		*m.Of(&c.From), ok = parseAmount(m, from)
		*m.Of(&c.To), too = parseAmount(m, to)
		return ok && too
	}
	return false
}

// parseAmount parses what sizing.Measure.Show writes.
func parseAmount(m *sizing.Measure, text string) (a sizing.Amount, ok bool) {
	request, limit, limited := strings.Cut(text, "/")
	var err error
	if a.Request, err = m.Parse(request); err != nil || a.Request <= 0 {
		return a, false
	}
	if limited {
		a.Limit, err = m.Parse(limit)
	}
	return a, err == nil && (!limited || a.Limit >= a.Request)
}
