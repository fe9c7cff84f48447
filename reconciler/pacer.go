package reconciler

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// pacer lets pods that have to be sized anew through at a steady rate, the most
// wrong first, so that a changed ratio does not move a whole cluster at once.
type pacer struct {
	clock clock.Clock
	// pause is the time from turn to turn; 0 lets all through.
	pause time.Duration

	mu      sync.Mutex
	waiting wrongFirst
	byPod   map[types.NamespacedName]*turn
	// came receives when there is something to wait for.
	came chan struct{}
}

// turn is a pod that waits for its turn, or has it.
type turn struct {
	pod   types.NamespacedName
	wrong float64
	// index is the place in the heap; -1 once the turn has come.
	index int
}

// newPacer returns a pacer that lets perSecond pods through; 0 lets all through.
func newPacer(perSecond float64, c clock.Clock) *pacer {
	p := &pacer{clock: c, byPod: map[types.NamespacedName]*turn{}, came: make(chan struct{}, 1)}
	if perSecond > 0 {
		p.pause = time.Duration(float64(time.Second) / perSecond)
	}
	return p
}

// mayGo tells whether it is the pod's turn, which is over with that. Otherwise
// the pod waits for it.
func (p *pacer) mayGo(pod types.NamespacedName, wrong float64) bool {
	if p.pause == 0 {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.byPod[pod]
	switch {
	case t == nil:
		t = &turn{pod: pod, wrong: wrong}
		p.byPod[pod] = t
		heap.Push(&p.waiting, t)
		select {
		case p.came <- struct{}{}:
		default: // It is known already that there is something.
		}
	case t.index < 0:
		delete(p.byPod, pod)
		return true
	case t.wrong != wrong:
		t.wrong = wrong
		heap.Fix(&p.waiting, t.index)
	}
	return false
}

// forget drops a pod that has no need of a turn any more.
func (p *pacer) forget(pod types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.byPod[pod]
	if t == nil {
		return
	}
	if t.index >= 0 {
		heap.Remove(&p.waiting, t.index)
	}
	delete(p.byPod, pod)
}

// clear drops all pods.
func (p *pacer) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = nil
	clear(p.byPod)
}

// backlog is how many pods wait.
func (p *pacer) backlog() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting)
}

// run calls turnOf for each pod whose turn comes, until ctx is done. There is a
// pause before each turn, the first as well: so that the most wrong of many that
// come at once is known.
func (p *pacer) run(ctx context.Context, turnOf func(types.NamespacedName)) {
	for {
		if p.backlog() == 0 {
			select {
			case <-p.came:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-p.clock.After(p.pause):
		case <-ctx.Done():
			return
		}
		if pod, ok := p.next(); ok {
			turnOf(pod)
		}
	}
}

// next gives the most wrong pod its turn.
func (p *pacer) next() (types.NamespacedName, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		return types.NamespacedName{}, false
	}
	t := heap.Pop(&p.waiting).(*turn)
	return t.pod, true
}

// wrongFirst is a heap of turns.
type wrongFirst []*turn

func (h wrongFirst) Len() int           { return len(h) }
func (h wrongFirst) Less(i, j int) bool { return h[i].wrong > h[j].wrong }
func (h wrongFirst) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *wrongFirst) Push(x any) {
	t := x.(*turn)
	t.index = len(*h)
	*h = append(*h, t)
}

// Pop implements heap.Interface.
func (h *wrongFirst) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	t.index = -1
	return t
}
