package work

import (
	"errors"
	"hash/maphash"
	"math"
	"math/bits"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/objective"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

const (
	// times is at how many times in an hour a query is evaluated, and apart the time between them: queries rarely look back further.
	times = 12
	apart = time.Hour / times
	// least is at how many of them a pod must have work.
	least = times - times/3
)

// hour is what is known of an hour.
type hour struct {
	// number is in hours since 1970, and end when the hour ended.
	number int64
	end    time.Time
	asked  []*asked
	// counts has the pods whose rules count work, and index where each is by a hash of its namespace and name. Nothing else is kept of answers.
	counts []count
	index  map[uint64]int32
	seed   maphash.Seed
}

// asked is a question about an hour.
type asked struct {
	question
	// rule is the first rule that asks it; empty for the globals.
	rule string
	// answered has a bit for each time that was answered, and named reports whether any answer named a pod that it was asked for.
	answered uint16
	named    bool
	// slow is in how many rounds it took too long.
	slow int
}

// count is the work of a pod.
type count struct {
	sum float64
	// of is the index of the question of its rule, which does not change, and times at how many times it had work.
	of    int32
	times uint8
}

// newHour returns an hour of which nothing is known. questionFor returns the question for a pod, and its rule; false if none counts its work.
func newHour(end time.Time, pods []*pod.Pod, questionFor func(*pod.Pod) (q question, rule string, ok bool)) *hour {
	h := &hour{number: end.Unix()/int64(time.Hour/time.Second) - 1, end: end, index: map[uint64]int32{}, seed: maphash.MakeSeed()}
	known := map[question]int32{}
	for _, p := range pods {
		if p.Node() == "" || p.Finished() || p.CreatedAt().After(end) {
			continue
		}
		q, rule, ok := questionFor(p)
		if !ok {
			continue
		}
		of, before := known[q]
		if !before {
			of = int32(len(h.asked))
			known[q], h.asked = of, append(h.asked, &asked{question: q, rule: rule})
		}
		h.index[h.key(p.Namespace(), p.Name)] = int32(len(h.counts))
		h.counts = append(h.counts, count{of: of})
	}
	return h
}

func (h *hour) key(namespace, name string) uint64 {
	return maphash.Comparable(h.seed, struct{ namespace, name string }{namespace, name})
}

// of returns the mean work of a pod that a question is about; 0 if it is not known.
func (h *hour) of(p *pod.Pod, q question) float64 {
	i, ok := h.index[h.key(p.Namespace(), p.Name)]
	if !ok {
		return 0
	}
	n := h.counts[i]
	if h.asked[n.of].question != q || n.times < least {
		return 0
	}
	return n.sum / float64(n.times)
}

// missing returns whether a question was not answered yet for a time, and when that was.
func (h *hour) missing(a *asked, i int) (at time.Time, is bool) {
	return h.end.Add(-time.Hour + time.Duration(i+1)*apart), a.answered&(1<<i) == 0
}

// errLabels and errNamed are why answers do not count.
var (
	errLabels = errors.New("no element has the labels namespace and pod: aggregate by them, as in sum by (namespace, pod) (…)")
	errNamed  = errors.New("no answer has an element for any pod of its rules: compare the labels namespace and pod with their names")
)

// answer is an answer to the question with an index, while it arrives.
type answer struct {
	*hour
	of int
	// work is what it says of each of the counts; negative if that is nothing.
	work []float64
	// some reports whether it has elements, and labeled whether any has the labels.
	some, labeled bool
}

func newAnswer(h *hour, of int) *answer {
	return &answer{hour: h, of: of, work: make([]float64, len(h.counts))}
}

// expect forgets the elements.
func (a *answer) expect() {
	a.some, a.labeled = false, false
	for i := range a.work {
		a.work[i] = -1
	}
}

// take takes an element. Those without the labels, or about pods of other rules, are about something else: others may create series, too.
func (a *answer) take(e objective.Element) {
	a.some = true
	if e.Namespace == "" || e.Pod == "" {
		return
	}
	a.labeled = true
	i, ok := a.index[a.key(e.Namespace, e.Pod)]
	if ok && int(a.counts[i].of) == a.of && e.Value >= 0 && !math.IsInf(e.Value, 0) {
		a.work[i] = max(a.work[i], 0) + e.Value
	}
}

// keep counts a complete answer for the time with the number i.
func (a *answer) keep(i int) error {
	if a.some && !a.labeled {
		return errLabels
	}
	asked := a.asked[a.of]
	asked.answered |= 1 << i
	for i, n := range a.work {
		if n >= 0 {
			asked.named = true
			a.counts[i].sum += n
			a.counts[i].times++
		}
	}
	return nil
}

// problem returns why answers to a question do not count although there are all; nil if they do.
func (h *hour) problem(a *asked) error {
	if bits.OnesCount16(a.answered) == times && !a.named {
		return errNamed
	}
	return nil
}
