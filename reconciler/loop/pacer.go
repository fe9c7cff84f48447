package loop

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
)

// pacer gives pods that can wait their turns at a steady rate, so that a changed ratio does
// not resize all pods in a cluster at the same time, and neither does the end of a pause. A
// pod whose resize frees room has its turn only while not too much was freed.
//
// The rate counts only pods that are moved, that is, resized. A refused pod is not moved,
// so the next pod has its turn immediately, limited only by the rate of requests. Turns
// that could not be used in time are made up for. Each refused pod therefore costs the
// others one request, once: from then on it waits behind them. So does a pod that was
// moved. A pod that repeatedly needs a different size, because its labels change all the
// time, has its next turn when all other waiting pods have been moved as often. Every second
// turn goes to the namespace that has waited longest for one. None frees more than half of what is permitted while others
// wait. So a user who creates ever more pods, which are the most wrong, delays those of others by little.
type pacer struct {
	clock clock.Clock
	// rates returns the pace. It may change at any time.
	rates func() pace
	// most is the maximum number of turns in progress. Their results determine how many
	// more turns there are, and more turns would only delay new pods in the queue.
	most int

	mu sync.Mutex
	// pace is the pace that the next turns were determined by, and pause the time between them.
	pace  pace
	pause time.Duration
	freed freed
	lines lines
	byPod map[types.NamespacedName]*turn
	// moves counts how often each pod was moved since no pod was waiting.
	moves map[types.NamespacedName]int
	// turns counts the turns, and last has that of the last turn of each namespace, since no pod
	// was waiting.
	turns uint64
	last  map[string]uint64
	// due is the time of the next turn. It lags behind the clock by the turns that were
	// not used. failedDue is the time of the next turn for a pod that failed.
	due, failedDue time.Time
	// full means that pods waited until resizes may free more. Turns of that time are not made up for.
	full bool
	// underWay is the number of turns that have begun and not ended.
	underWay int
	// changed receives when a turn may have become possible.
	changed chan struct{}
}

const (
	// madeUpFor limits the time whose unused turns are made up for. Beyond it, pods have
	// their turns at the usual rate.
	madeUpFor = time.Minute
	// failedShare is the number of turns of which one goes to a pod that failed while
	// others wait. It is large enough not to delay the others noticeably, and small enough
	// to retry the pods that failed.
	failedShare = 20
	// mostLast is how many namespaces are remembered. More of them start over, which costs each
	// of the others one turn, or lets each free as much again.
	mostLast = 10_000
)

// newPacer returns a pacer that gives turns at a pace, of which at most most are in progress at
// the same time. allocatable returns what all nodes have for pods.
func newPacer(rates func() pace, allocatable func() node.Resources, most int, c clock.Clock) *pacer {
	p := &pacer{
		clock: c, rates: rates, freed: freed{allocatable: allocatable, by: map[string]*freed{}}, most: most,
		byPod: map[types.NamespacedName]*turn{}, moves: map[types.NamespacedName]int{}, last: map[string]uint64{}, changed: make(chan struct{}, 1),
	}
	p.follow()
	return p
}

// follow adapts to a changed pace. A faster one counts from now on, and the next turn keeps its time at a
// slower one. Turns that were not used at one pace are not made up for at another.
func (p *pacer) follow() {
	before, now := p.pace, p.rates()
	if before == now {
		return
	}
	if before.freedPerHour == 0 {
		p.freed.forget() // Without a limit, not all is counted.
	}
	p.pace = now
	if before.perSecond == now.perSecond {
		return
	}
	p.pause = now.pause()
	at := p.clock.Now()
	p.due = earlier(later(p.due, at), at.Add(p.pause))
	p.failedDue = earlier(p.failedDue, at.Add(failedShare*p.pause))
}

// take records that a worker has taken the pod. If the pod's turn has come, the worker
// may use it.
func (p *pacer) take(pod types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.byPod[pod]; t != nil && t.came {
		t.taken = true
	}
}

// mayGo reports whether it is the pod's turn. If not, the pod starts to wait for it.
func (p *pacer) mayGo(pod types.NamespacedName, n need) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.follow()
	t := p.byPod[pod]
	if t != nil && t.came {
		t.taken = true
		p.freed.hold(t, n.frees)
		return true
	}
	if p.pause == 0 && (p.pace.freedPerHour == 0 || n.frees == node.Resources{}) {
		if t != nil {
			p.lines.remove(t)
			delete(p.byPod, pod)
		}
		return true
	}
	if t == nil {
		t = &turn{pod: pod, moves: p.moves[pod]}
		p.byPod[pod] = t
	}
	if p.lines.untried() == 0 {
		// The first pod also waits: if many pods come together, the most wrong
		// one must be first, and later pods must not get turns that others did
		// not use.
		p.due = later(p.due, p.clock.Now().Add(p.pause))
	}
	p.lines.put(t, n)
	p.wake()
	return false
}

// used ends the turn of a pod with its result.
func (p *pacer) used(pod types.NamespacedName, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.byPod[pod]
	if t == nil || !t.taken {
		return
	}
	switch {
	case err == nil, is[*actuate.UnannotatedError](err), actuate.Mutated(err):
		delete(p.byPod, pod)
		p.moves[pod]++
		p.freed.spend(t, p.clock.Now())
	case is[*actuate.StoppedError](err), actuate.Outdated(err):
		p.returnTurn(t)
		t.missed()
	case inTrouble(err):
		// Do not send requests to the API server faster because of this, nor
		// all of them together after it has recovered.
		p.due = later(p.due, p.clock.Now())
		t.missed()
	default:
		p.returnTurn(t)
		t.failed = true
	}
	p.over(t)
}

// postpone takes back the turn of a pod, if it has come, and lets no other turn begin before a time. No pod has
// missed a turn by that, and no turn is made up for.
func (p *pacer) postpone(pod types.NamespacedName, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due = later(p.due, until)
	if t := p.byPod[pod]; t != nil && t.came {
		p.over(t)
	}
}

// release records that the worker is done with the pod. A turn that was taken and not
// used goes to the next pod.
func (p *pacer) release(pod types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.byPod[pod]; t != nil && t.taken {
		p.returnTurn(t)
		t.missed()
		p.over(t)
	}
}

// forget drops a pod that no longer needs a turn.
func (p *pacer) forget(pod types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.byPod[pod]
	if t == nil {
		return
	}
	if t.came {
		p.returnTurn(t)
		p.over(t)
	}
	p.lines.remove(t)
	delete(p.byPod, pod)
}

// gone drops a pod that no longer exists.
func (p *pacer) gone(pod types.NamespacedName) {
	p.forget(pod)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.moves, pod)
}

// returnTurn makes the next turn begin immediately. Pods that failed before do not return their
// turns: otherwise the API server would receive little else than their retries.
func (p *pacer) returnTurn(t *turn) {
	if !t.failed {
		p.due = p.due.Add(-p.pause)
	}
}

// over ends a turn that has begun. Others may free what it holds and did not free.
func (p *pacer) over(t *turn) {
	t.came, t.taken = false, false
	p.freed.hold(t, node.Resources{})
	p.underWay--
	p.wake()
}

// clear drops all pods, and what they freed.
func (p *pacer) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines, p.underWay, p.moves, p.last = lines{}, 0, map[types.NamespacedName]int{}, map[string]uint64{}
	clear(p.byPod)
	p.freed.forget()
	p.freed.underWay = node.Resources{}
}

// recall counts what was freed before, and lets pods free more.
func (p *pacer) recall(before []resizedBefore) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.freed.forget()
	p.freed.advance(p.clock.Now())
	for _, resized := range before {
		p.freed.add(resized.freed, resized.at)
	}
	p.freed.known = true
	p.wake()
}

// counts reports whether what was freed is known.
func (p *pacer) counts() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.follow()
	return p.freed.known
}

// backlog returns the number of waiting pods.
func (p *pacer) backlog() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lines.len()
}

// withoutRoom returns the number of waiting pods that wait until resizes may free more.
func (p *pacer) withoutRoom() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting, now := 0, p.clock.Now()
	for _, l := range [...]*line{&p.lines.freeing, &p.lines.failedFreeing} {
		if l.len() > 0 && !p.freed.fits(l.first().frees, p.pace.freedPerHour, now) {
			waiting += l.len()
		}
	}
	return waiting
}

// freedShares returns what was freed within the last hour, as shares of what all nodes have for pods;
// 0 if that is not known.
func (p *pacer) freedShares() (cpu, memory float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	p.freed.advance(now)
	total := p.freed.of(now)
	return float64(p.freed.sum.CPU) / max(1, float64(total.CPU)), float64(p.freed.sum.Memory) / max(1, float64(total.Memory))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
