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
	// counts has the pods whose rules count work, by a hash of their namespace and name. Nothing else is kept of answers.
	counts map[uint64]count
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
	// of is the index of the question of its rule, times at how many times it had work, and at the last of them, plus 1.
	of        int32
	times, at uint8
}

// newHour returns an hour of which nothing is known. questionFor returns the question for a pod, and its rule; false if none counts its work.
func newHour(end time.Time, pods []*pod.Pod, questionFor func(*pod.Pod) (q question, rule string, ok bool)) *hour {
	h := &hour{number: end.Unix()/int64(time.Hour/time.Second) - 1, end: end, counts: map[uint64]count{}, seed: maphash.MakeSeed()}
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
		h.counts[h.key(p.Namespace(), p.Name)] = count{of: of}
	}
	return h
}

func (h *hour) key(namespace, name string) uint64 {
	return maphash.Comparable(h.seed, struct{ namespace, name string }{namespace, name})
}

// of returns the mean work of a pod that a question is about; 0 if it is not known.
func (h *hour) of(p *pod.Pod, q question) float64 {
	n, ok := h.counts[h.key(p.Namespace(), p.Name)]
	if !ok || h.asked[n.of].question != q || n.times < least {
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

// take takes an answer to the question with an index, for the time with the number i. Elements without the labels, or about pods of other
// rules, are about something else: others may create series, too.
func (h *hour) take(of, i int, elements []objective.Element) error {
	a, labeled := h.asked[of], len(elements) == 0
	for _, e := range elements {
		if e.Namespace == "" || e.Pod == "" {
			continue
		}
		labeled = true
		key := h.key(e.Namespace, e.Pod)
		n, ok := h.counts[key]
		if !ok || int(n.of) != of || !(e.Value >= 0) || math.IsInf(e.Value, 0) {
			continue
		}
		a.named = true
		n.sum += e.Value
		if n.at != uint8(i+1) {
			n.at = uint8(i + 1)
			n.times++
		}
		h.counts[key] = n
	}
	if !labeled {
		return errLabels
	}
	a.answered |= 1 << i
	return nil
}

// problem returns why answers to a question do not count although there are all; nil if they do.
func (h *hour) problem(a *asked) error {
	if bits.OnesCount16(a.answered) == times && !a.named {
		return errNamed
	}
	return nil
}
