package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// When the breaker of a workload opens, and when that of a namespace or the cluster does.
const (
	// The breaker of a workload opens at revertsToOpen among its lastOutcomes.
	lastOutcomes, revertsToOpen = 5, 3
	// For the breakers of namespaces and of the cluster, resizes count that were made lately, or for as long as they
	// are observed if that is longer. They open if at least workloadsToOpen had reverts, and more than one in oneIn of
	// the workloads with resizes.
	lately                 = time.Hour
	workloadsToOpen, oneIn = 5, 20
)

// Outcomes remembers what came of the last resizes, by workload. An outcome is a resize of a pod,
// and a revert takes its place. So resizes count until they are reverted, and count once even if
// several resources are reverted one after the other.
//
// The pods show nearly all of it: if a process starts later, it misses only resizes that later
// resizes have hidden, and those of deleted pods. Methods must not be called concurrently.
type Outcomes struct {
	of map[Group]*recent
}

// recent is what came of the last resizes of a workload.
type recent struct {
	// last has the last outcomes, at most lastOutcomes, the oldest first.
	last []outcome
	// resized and reverted are when the newest resize was made, and the newest one that was reverted.
	// knownResized and knownReverted are when these became known. Seconds since 1970; 0 means never.
	resized, knownResized, reverted, knownReverted int64
	// lately is for how many seconds its resizes count for more than the workload.
	lately int64
}

// outcome is what came of a resize of a pod.
type outcome struct {
	// pod is a hash of the UID of the pod.
	pod uint64
	// resized is when the resize was made, and known when that, or its revert, became known. Seconds
	// since 1970.
	resized, known int64
	// reverted says what was reverted, such as "web-0 (OOMKilled)"; empty if nothing was.
	reverted string
}

// NewOutcomes returns Outcomes that remember nothing.
func NewOutcomes() *Outcomes { return &Outcomes{of: map[Group]*recent{}} }

// See takes note of a pod of a workload, in any order and as often as it changes. window is how long its
// resizes are observed. It reports whether it is the first to show a revert, so that a breaker may have to open.
func (o *Outcomes) See(workload Group, of *pod.Pod, window time.Duration, now time.Time) (reverted bool) {
	came, ok := outcomeOf(of, window)
	if !ok || came.known > now.Add(mostAhead).Unix() {
		return false // A time in the future comes from a wrong clock, and no reset would be later.
	}
	r := o.of[workload]
	if r == nil {
		r = &recent{last: make([]outcome, 0, lastOutcomes)}
		o.of[workload.clone()] = r
	}
	r.lately = int64(max(lately, window) / time.Second)
	return r.add(came, of.Name, of.AppliedAt().Unix())
}

// Eviction is what came of the eviction of a pod.
type Eviction struct {
	Pod string
	UID types.UID
	At  time.Time
	// Missed is when it became known that its workload lacks a ready pod since; zero if it does not.
	Missed time.Time
}

// Evicted takes note of an eviction of a pod of a workload, like See. It counts as a resize, and as one that was reverted if
// no ready pod has taken its place.
func (o *Outcomes) Evicted(workload Group, e Eviction, now time.Time) (reverted bool) {
	came := outcome{pod: hashOf(e.UID), resized: e.At.Unix(), known: e.At.Unix()}
	if !e.Missed.IsZero() {
		came.known, came.reverted = e.Missed.Unix(), string(contract.Evicted)
	}
	if came.known > now.Add(mostAhead).Unix() {
		return false
	}
	r := o.of[workload]
	if r == nil {
		r = &recent{last: make([]outcome, 0, lastOutcomes), lately: int64(lately / time.Second)}
		o.of[workload.clone()] = r
	}
	return r.add(came, e.Pod, e.At.Unix())
}

// mostAhead is how far the clock of another replica, or of the API server, may be ahead.
const mostAhead = time.Minute

// Forget drops the outcomes of a pod that must not count.
func (o *Outcomes) Forget(workload Group, of *pod.Pod) {
	r := o.of[workload]
	if r == nil {
		return
	}
	pod := hashOf(of.UID)
	r.last = slices.DeleteFunc(r.last, func(past outcome) bool { return past.pod == pod })
	if len(r.last) == 0 {
		delete(o.of, workload)
	}
}

// Prune drops the workloads without pods whose outcomes no longer count for others.
func (o *Outcomes) Prune(now time.Time, exists func(Group) bool) {
	for workload, r := range o.of {
		if r.resized <= now.Unix()-r.lately && !exists(workload) {
			delete(o.of, workload)
		}
	}
}

// outcomeOf returns what came of the last resize of a pod, as the pod shows it; false if it was not
// resized. It does not name what was reverted. A pod that ended because of the resize counts as reverted.
func outcomeOf(of *pod.Pod, window time.Duration) (outcome, bool) {
	if of.ResizedAt().IsZero() || !of.Sized() {
		return outcome{}, false
	}
	if _, at := ended(of, "", window); !at.IsZero() {
		return outcome{pod: hashOf(of.UID), resized: of.ResizedAt().Unix(), known: at.Unix(), reverted: string(contract.OOMKilled)}, true
	}
	reverts := of.Reverts()
	if len(reverts) == 0 {
		at := of.ResizedAt().Unix()
		return outcome{pod: hashOf(of.UID), resized: at, known: at}, true
	}
	last := slices.MaxFunc(reverts, func(a, b pod.Revert) int { return a.At.Compare(b.At) })
	if of.AppliedAt().After(last.At) {
		at := of.ResizedAt().Unix()
		return outcome{pod: hashOf(of.UID), resized: at, known: at}, true
	}
	resized := of.AppliedAt()
	if resized.IsZero() {
		resized = last.At // A resize of only some resources does not record its time.
	}
	return outcome{pod: hashOf(of.UID), resized: resized.Unix(), known: last.At.Unix(), reverted: string(last.Harm)}, true
}

// add takes note of an outcome of a pod whose last resize was recorded at a time, and reports whether it is a new revert.
func (r *recent) add(now outcome, name string, applied int64) (reverted bool) {
	last := -1
	for i := range r.last {
		if r.last[i].pod == now.pod {
			last = i
		}
	}
	if last >= 0 {
		switch before := &r.last[last]; {
		case now.reverted == "" && now.resized <= before.known:
			return false
		case now.reverted != "" && before.reverted == "":
			now.resized = before.resized
			r.last = slices.Delete(r.last, last, last+1)
		case now.reverted != "" && (now.known <= before.known || applied <= before.known):
			return false // It is known, or the same resize hurt in several ways. A resize is recorded some time after it.
		}
	}
	if len(r.last) == lastOutcomes && compareOutcomes(now, r.last[0]) <= 0 {
		return false // It was known, or it was followed by so many others that it does not count.
	}
	r.resized, r.knownResized = max(r.resized, now.resized), max(r.knownResized, now.known)
	if now.reverted != "" {
		r.reverted, r.knownReverted = max(r.reverted, now.resized), max(r.knownReverted, now.known)
		now.reverted = fmt.Sprintf("%s (%s)", name, now.reverted)
	}
	if len(r.last) == lastOutcomes {
		r.last = slices.Delete(r.last, 0, 1)
	}
	at, _ := slices.BinarySearchFunc(r.last, now, compareOutcomes)
	r.last = slices.Insert(r.last, at, now)
	return now.reverted != ""
}

// compareOutcomes orders outcomes by when they became known. Those of the same second have an order,
// too, so that all replicas keep the same ones.
func compareOutcomes(a, b outcome) int {
	return cmp.Or(cmp.Compare(a.known, b.known), cmp.Compare(a.pod, b.pod))
}

// Trip is a breaker that must open.
type Trip struct {
	// Group is a workload, a namespace or all pods.
	Group  Group
	Reason string
	// Known is when the last of the reverts became known.
	Known time.Time
}

// tally counts workloads: those that were resized lately, and those of which such a resize was reverted.
type tally struct {
	resized, reverted int64
	// known is when the last of the reverts became known.
	known int64
}

// add adds a workload. Nothing counts that happened before the breaker was reset.
func (t *tally) add(r *recent, now time.Time, reset int64) {
	from := now.Unix() - r.lately
	if r.resized > from && r.knownResized > reset {
		t.resized++
	}
	if r.reverted > from && r.knownReverted > reset {
		t.reverted++
		t.known = max(t.known, r.knownReverted)
	}
}

// trip returns the breaker of a namespace, or of the cluster, if it must open. counts is how many of the
// reverted workloads count.
func (t *tally) trip(namespace string, counts int64) (Trip, bool) {
	reason := fmt.Sprintf("of the %d workloads that were resized lately, %d had resizes that were reverted", t.resized, t.reverted)
	return Trip{Group{Namespace: namespace}, reason, time.Unix(t.known, 0)}, counts >= workloadsToOpen && counts*oneIn > t.resized
}

// Trips returns which breakers must open, the cluster's first, and that of a namespace before those of its
// workloads. since returns when the breaker of a workload was last reset, of a namespace if the workload has
// only that, and of the cluster if it is zero: earlier outcomes do not count.
//
// For the cluster, one namespace counts for no more workloads with reverts than all others together. Otherwise,
// pods in a single namespace, which fail because of their users, could stop the sizing of all others.
func (o *Outcomes) Trips(now time.Time, since func(Group) time.Time) []Trip {
	var trips []Trip
	var all tally
	reset := unix(since(Group{}))
	type namespaceTally struct {
		own, ofCluster tally
		reset          int64
	}
	namespaces := map[string]*namespaceTally{}
	for workload, r := range o.of {
		in := namespaces[workload.Namespace]
		if in == nil {
			in = &namespaceTally{reset: unix(since(Group{Namespace: workload.Namespace}))}
			namespaces[workload.Namespace] = in
		}
		in.own.add(r, now, in.reset)
		in.ofCluster.add(r, now, reset)
		all.add(r, now, reset)
		if r.reverted == 0 {
			continue
		}
		if trip, ok := r.trip(workload, unix(since(workload))); ok {
			trips = append(trips, trip)
		}
	}
	most := int64(0)
	for namespace, in := range namespaces {
		most = max(most, in.ofCluster.reverted)
		if trip, ok := in.own.trip(namespace, in.own.reverted); ok {
			trips = append(trips, trip)
		}
	}
	if trip, ok := all.trip("", min(all.reverted, 2*(all.reverted-most))); ok {
		trips = append(trips, trip)
	}
	slices.SortFunc(trips, func(a, b Trip) int { return a.Group.compare(b.Group) })
	return trips
}

// trip returns the breaker of a workload if it must open.
func (r *recent) trip(workload Group, reset int64) (Trip, bool) {
	var reverted []string
	var known int64
	for i := range r.last {
		if last := &r.last[i]; last.reverted != "" && last.known > reset {
			reverted = append(reverted, last.reverted)
			known = last.known
		}
	}
	if len(reverted) < revertsToOpen {
		return Trip{}, false
	}
	reason := fmt.Sprintf("%d of the last %d resizes were reverted", len(reverted), len(r.last))
	if names := strings.Join(reverted, ", "); len(names) <= mostNames {
		reason += ": " + names
	}
	return Trip{workload, reason, time.Unix(known, 0)}, true
}

// mostNames is how many bytes of names a reason has at most.
const mostNames = 400

// hashOf returns a hash (FNV-1a) that is the same in all replicas.
func hashOf(uid types.UID) uint64 {
	hash := uint64(14695981039346656037)
	for i := range len(uid) {
		hash = (hash ^ uint64(uid[i])) * 1099511628211
	}
	return hash
}

// unix returns a time in seconds since 1970; 0 for the zero time.
func unix(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.Unix()
}
