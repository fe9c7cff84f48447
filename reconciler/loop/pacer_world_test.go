package loop

import (
	"errors"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

const (
	// pacedRate is the default of pace.resizesPerSecond, pacedQPS the default of --kube-api-qps.
	pacedRate, pacedQPS, pacedBurst = 20, 100, 200
	pacedWorkers                    = 10
	pacedLatency                    = 20 * time.Millisecond
	pacedTick                       = time.Second / pacedQPS
)

var (
	errRefused  = apierrors.NewForbidden(corev1.Resource("pods"), "pod", errors.New("a policy says no"))
	errConflict = apierrors.NewConflict(corev1.Resource("pods"), "pod", errors.New("it has changed"))
	errBusy     = apierrors.NewTooManyRequestsError("too many requests")
)

// pacedWorld simulates a cluster over time: pods that must be resized again, workers, and
// an API server with a rate limit. A pod that is moved takes two requests (resize, applied),
// a pod that is not moved takes one.
type pacedWorld struct {
	t      *testing.T
	pacer  *pacer
	pace   pace
	clock  *testingclock.FakeClock
	pods   map[types.NamespacedName]*pacedPod
	tokens int
	// working has the pods whose turn it is; again has the pods that failed, by the
	// time at which they need another turn.
	working []*pacedPod
	again   map[time.Time][]*pacedPod
	moved   []time.Time
	tries   int
}

// pacedPod is a pod of a pacedWorld.
type pacedPod struct {
	name     types.NamespacedName
	wrong    float64
	restores bool
	// flips reports whether the pod needs a different size as soon as it is moved.
	flips bool
	// answer returns the API server's answer to an attempt at a time; nil always accepts.
	answer func(after time.Duration, try int) error
	tries  int
	pauses backOff
	// left is the number of remaining requests; answered is when the current one ends.
	left     int
	answered time.Time
	moved    time.Time
}

func newPacedWorld(t *testing.T) *pacedWorld {
	clock := testingclock.NewFakeClock(podtest.Start)
	w := &pacedWorld{
		t: t, pace: pace{perSecond: pacedRate}, clock: clock, tokens: pacedBurst,
		pods: map[types.NamespacedName]*pacedPod{}, again: map[time.Time][]*pacedPod{},
	}
	w.pacer = newPacer(func() pace { return w.pace }, nil, pacedWorkers, clock)
	return w
}

// add adds n pods that need a turn.
func (w *pacedWorld) add(n int, like pacedPod) []*pacedPod {
	added := make([]*pacedPod, n)
	for i := range added {
		p := like
		p.name.Name = strconv.Itoa(len(w.pods))
		w.pods[p.name], added[i] = &p, &p
		w.ask(&p)
	}
	return added
}

// ask simulates a visit to a pod whose turn has not begun.
func (w *pacedWorld) ask(p *pacedPod) {
	w.pacer.take(p.name)
	if w.pacer.mayGo(p.name, need{wrong: p.wrong, restores: p.restores}) {
		w.t.Fatalf("pod %v may be resized before its turn", p.name)
	}
	w.pacer.release(p.name)
}

// run advances the time.
func (w *pacedWorld) run(d time.Duration) {
	w.until(d, func() bool { return false })
}

// until advances the time until a condition holds, and returns how long that took.
func (w *pacedWorld) until(most time.Duration, so func() bool) time.Duration {
	w.t.Helper()
	began := w.clock.Now()
	for w.clock.Since(began) < most && !so() {
		w.tick()
	}
	return w.clock.Since(began)
}

func (w *pacedWorld) tick() {
	now := w.clock.Now().Add(pacedTick)
	w.clock.SetTime(now)
	for _, p := range w.again[now] {
		w.ask(p)
	}
	delete(w.again, now)
	for {
		name, wait := w.pacer.next()
		if wait != 0 {
			break
		}
		p := w.pods[name]
		w.pacer.take(name)
		if !w.pacer.mayGo(name, need{wrong: p.wrong, restores: p.restores}) {
			w.t.Fatalf("pod %v may not go although it is its turn", name)
		}
		p.left = 2
		w.tries++
		w.working = append(w.working, p)
	}
	if len(w.working) > pacedWorkers {
		w.t.Fatalf("%d pods for %d workers", len(w.working), pacedWorkers)
	}
	w.tokens = min(pacedBurst, w.tokens+1)
	var working []*pacedPod
	for _, p := range w.working {
		if !p.answered.IsZero() && !now.Before(p.answered) {
			p.answered = time.Time{}
			w.answer(p, now)
		}
		if p.left > 0 {
			working = append(working, p)
		}
		if p.left > 0 && p.answered.IsZero() && w.tokens > 0 {
			w.tokens--
			p.answered = now.Add(pacedLatency)
		}
	}
	w.working = working
}

// answer processes the API server's answer to a request for a pod.
func (w *pacedWorld) answer(p *pacedPod, now time.Time) {
	var err error
	if p.answer != nil {
		err = p.answer(now.Sub(podtest.Start), p.tries)
	}
	if p.left--; err == nil && p.left > 0 {
		return
	}
	p.left = 0
	p.tries++
	w.pacer.used(p.name, err)
	w.pacer.release(p.name)
	if err == nil {
		p.moved = now
		w.moved = append(w.moved, now)
		if p.flips {
			next := now.Add(pacedTick)
			w.again[next] = append(w.again[next], p)
		}
		return
	}
	p.pauses.longer(now, firstPause, longPause)
	w.again[p.pauses.until] = append(w.again[p.pauses.until], p)
}

// haveMoved returns a condition that holds once all pods were moved.
func haveMoved(pods []*pacedPod) func() bool {
	next := 0
	return func() bool {
		for next < len(pods) && !pods[next].moved.IsZero() {
			next++
		}
		return next == len(pods)
	}
}

// checkRate checks that no more pods were moved than the rate allows, from the start to any
// time and within any minute.
func (w *pacedWorld) checkRate() {
	w.t.Helper()
	for i, at := range w.moved {
		if allowed := pacedRate * at.Sub(podtest.Start).Seconds(); float64(i+1) > allowed {
			w.t.Fatalf("%d pods moved within %v", i+1, at.Sub(podtest.Start))
		}
		if before := i - 2*60*pacedRate - pacedWorkers; before >= 0 && at.Sub(w.moved[before]) <= time.Minute {
			w.t.Fatalf("%d pods moved within a minute, up to %v", i-before, at.Sub(podtest.Start))
		}
	}
}

// constantly returns an answer that is the same for every attempt.
func constantly(err error) func(time.Duration, int) error {
	return func(time.Duration, int) error { return err }
}
