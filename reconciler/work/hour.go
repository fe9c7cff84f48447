package work

import (
	"errors"
	"hash/maphash"
	"math"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/promql"
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
	// questions are asked about it, and asked has what is known of each.
	questions []promql.Question
	asked     []*asked
	// counts has the pods whose rules count work, and index where each is by a hash of its namespace and name. Nothing else is kept of answers.
	counts []count
	index  map[uint64]int32
	seed   maphash.Seed
}

// asked is a question about an hour.
type asked struct {
	// rule is the first rule that asks it; empty for the globals.
	rule string
	// answered has a bit for each time that was answered, and named reports whether any answer named a pod that it was asked for.
	answered uint16
	named    bool
}

// count is the work of a pod.
type count struct {
	sum float64
	// of is the index of the question of its rule, which does not change, and times at how many times it had work.
	of    int32
	times uint8
}

// newHour returns an hour of which nothing is known. questionFor returns the question for a pod, and its rule; false if none counts its work.
func newHour(end time.Time, pods []*pod.Pod, questionFor func(*pod.Pod) (q promql.Question, rule string, ok bool)) *hour {
	h := &hour{number: end.Unix()/int64(time.Hour/time.Second) - 1, end: end, index: map[uint64]int32{}, seed: maphash.MakeSeed()}
	known := map[promql.Question]int32{}
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
			known[q], h.questions, h.asked = of, append(h.questions, q), append(h.asked, &asked{rule: rule})
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
func (h *hour) of(p *pod.Pod, q promql.Question) float64 {
	i, ok := h.index[h.key(p.Namespace(), p.Name)]
	if !ok {
		return 0
	}
	n := h.counts[i]
	if h.questions[n.of] != q || n.times < least {
		return 0
	}
	return n.sum / float64(n.times)
}

// missing returns whether a question was not answered yet for a time, and when that was.
func (h *hour) missing(a *asked, i int) (at time.Time, is bool) {
	return h.end.Add(-time.Hour + time.Duration(i+1)*apart), a.answered&(1<<i) == 0
}

// errNamed is why answers do not count.
var errNamed = errors.New("no answer has an element for any pod of its rules: compare the labels namespace and pod with their names")

// answer is an answer to the question with an index, while it arrives.
type answer struct {
	*hour
	of int
	// work is what it says of each of the counts; negative if that is nothing.
	work []float64
}

func newAnswer(h *hour, of int) *answer {
	return &answer{hour: h, of: of, work: make([]float64, len(h.counts))}
}

// expect forgets the elements.
func (a *answer) expect() {
	for i := range a.work {
		a.work[i] = -1
	}
}

// take takes an element, and reports whether it has the labels. Elements about pods of other rules are about something else.
func (a *answer) take(e promql.Element) bool {
	i, ok := a.index[a.key(e.Namespace, e.Pod)]
	if ok && int(a.counts[i].of) == a.of && e.Value >= 0 && !math.IsInf(e.Value, 0) {
		a.work[i] = max(a.work[i], 0) + e.Value
	}
	return e.Namespace != "" && e.Pod != ""
}

// keep counts a complete answer for the time with the number i.
func (a *answer) keep(i int) {
	asked := a.asked[a.of]
	asked.answered |= 1 << i
	for i, n := range a.work {
		if n >= 0 {
			asked.named = true
			a.counts[i].sum += n
			a.counts[i].times++
		}
	}
}
