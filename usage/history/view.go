package history

import (
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
)

// View is the history of a container. It is valid until the history changes.
type View struct {
	// Types has what is known per node type, in alphabetical order.
	Types []TypeView
	// Version is what the pods were created from.
	Version Version

	at time.Time
}

// Known says how much of a history is known.
type Known struct {
	// Begin is when the first sample was taken, in whole seconds; zero without samples.
	Begin time.Time
	// Coverage is the share of hours with samples since then, of the last eight days.
	Coverage float64
}

// TypeView is what a container used on one node type.
type TypeView struct {
	NodeType string
	CPU      *histogram.Histogram
	Memory   *histogram.Histogram
	// Pressed is CPU with the time that the container waited for it added to the usage. It
	// equals CPU if no source measures this.
	Pressed *histogram.Histogram
	// Steady is nil if no slots are kept.
	Steady *Steady
	// Throttled is the share of the weight of CPU samples that were throttled: what they would
	// have used is unknown.
	Throttled float64
	// First and Last are the times of the first and the last CPU sample, and Samples their
	// number.
	First, Last time.Time
	Samples     int
	// Floors are the least sizes; nil if none was seen to be too small.
	Floors *Floors
	// Peaks has the highest usage of memory of each of the last days.
	Peaks Days
	// Runs are the newest days on which pods ended with success, the newest first.
	Runs  []RunDay
	hours *[3]Hours
	// week has the peaks of each hour; nil if they are not kept.
	week *Week
}

// Known returns how much is known of each resource on node types of the view, and for how much of it the
// peaks of memory are known, not only its usage at moments.
func (v *View) Known(types []TypeView) (cpu, memory, highest Known) {
	var all [3]Hours
	for i := range types {
		for k := range all {
			all[k].add(types[i].hours[k])
		}
	}
	return all[CPU].known(v.at), all[Memory].known(v.at), all[peaks].known(v.at)
}

// Peak returns the highest usage in the hour of the week that follows from the given time, and
// whether it is known: whether it was measured a week before.
func (t *TypeView) Peak(resource Resource, at time.Time) (usage int64, known bool) {
	hour := hourOf(at) - HoursOfWeek
	if t.week == nil || hour < 0 {
		return 0, false
	}
	i := hour % HoursOfWeek
	usage = t.week.CPU[i]
	if resource == Memory {
		usage = t.week.Memory[i]
	}
	return usage, t.week.Hour[i] >= hour && usage > 0
}

// View returns the history of a container, and whether there is one.
func (h *History) View(c Container, now time.Time) (View, bool) {
	r := h.containers[c]
	if r == nil {
		return View{}, false
	}
	v := View{Types: make([]TypeView, len(r.Types)), Version: r.Version, at: now}
	for i, s := range r.Types {
		t := TypeView{
			NodeType: s.NodeType, CPU: &s.CPU, Memory: &s.Memory, Pressed: s.Pressed, Steady: s.Steady,
			Throttled: s.Throttled.Share(&s.CPU), First: s.First, Last: s.Last, Samples: s.Samples, Floors: s.Floors, Peaks: s.Peaks, Runs: s.Runs, hours: &s.Hours, week: s.Week,
		}
		if t.Pressed == nil {
			t.Pressed = t.CPU
		}
		v.Types[i] = t
	}
	return v, true
}
