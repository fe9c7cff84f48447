package loop

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

const (
	pacedGood = 2000
	// pacedAlone is how long the good pods take alone, 100 s.
	pacedAlone = pacedGood * time.Second / pacedRate
)

func refusedPods(n int) func(*pacedWorld) {
	return func(w *pacedWorld) { w.add(n, pacedPod{wrong: 2, answer: constantly(errRefused)}) }
}

func TestPacerRules(t *testing.T) {
	t.Run("refused pods do not delay other pods", refusedPodsDoNotDelayOtherPods)
	t.Run("restores come first", restoresComeFirst)
	t.Run("pods that always need a different size do not delay other pods", podsThatAlwaysNeedADifferentSizeDoNotDelayOtherPods)
	t.Run("failed pods are retried while others wait", failedPodsAreRetriedWhileOthersWait)
	t.Run("failed pods do not delay each other", failedPodsDoNotDelayEachOther)
	t.Run("unused turns are not saved", unusedTurnsAreNotSaved)
	t.Run("pods that were moved before they failed are retried", podsThatWereMovedBeforeTheyFailedAreRetried)
	t.Run("moves of deleted pods are forgotten", movesOfDeletedPodsAreForgotten)
	t.Run("pods in one namespace do not delay those in others", podsInOneNamespaceDoNotDelayThoseInOthers)
	t.Run("pods in one namespace do not take all that those in others may free", podsInOneNamespaceDoNotTakeAllThatThoseInOthersMayFree)
}

// A refusal is unknown until the pod has been tried, which takes one request, before all
// others if the pod is the most wrong. With 7,000 refused pods, these requests take 70 s of
// --kube-api-qps, in which 1,400 turns are not used. 1,200 of these turns are made up for:
// the good pods then go at 50/s, because each takes two requests, and the last of 2,000
// goes after another 40 s. The total is 110 s, and 7,000 + 2·2,000 requests could not be
// made any faster. With up to 4 refused pods for each good one, the requests take at most
// 1.2 times as long as the good pods alone take at that rate.
func refusedPodsDoNotDelayOtherPods(t *testing.T) {
	recovering := func(after time.Duration, _ int) error {
		if after < 20*time.Second {
			return errRefused
		}
		return nil
	}
	oneConflict := func(_ time.Duration, try int) error {
		if try == 0 {
			return errConflict
		}
		return nil
	}
	for _, tc := range []struct {
		name string
		// others come before the good pods. One of 20 good pods gets answer.
		others func(*pacedWorld)
		answer func(time.Duration, int) error
		most   float64
	}{
		{"none refused", refusedPods(0), nil, 1.01},
		{"3,000 refused", refusedPods(3000), nil, 1.2},
		{"7,000 refused", refusedPods(7000), nil, 1.2},
		{"7,000 refused before", func(w *pacedWorld) {
			refusedPods(7000)(w)
			w.run(10 * time.Minute)
		}, nil, 1.1},
		{"7,000 refused, and some good pods with a conflict", refusedPods(7000), oneConflict, 1.2},
		{"3,000 with conflicts on every write", func(w *pacedWorld) {
			w.add(3000, pacedPod{wrong: 2, answer: constantly(errConflict)})
		}, nil, 1.2},
		{"2,000 refused for 20 seconds", func(w *pacedWorld) { w.add(2000, pacedPod{wrong: 2, answer: recovering}) }, nil, 1.2},
		{"7,000 refused restores", func(w *pacedWorld) {
			w.add(7000, pacedPod{restores: true, answer: constantly(errRefused)})
		}, nil, 1.2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newPacedWorld(t)
			tc.others(w)
			good := w.add(pacedGood, pacedPod{wrong: 1})
			for i := 0; i < len(good); i += 20 {
				good[i].answer = tc.answer
			}
			took := w.until(time.Hour, haveMoved(good))
			t.Logf("%v, %d attempts", took, w.tries)
			if took > time.Duration(tc.most*float64(pacedAlone)) {
				t.Errorf("the good pods take %v, %.2f times as long as alone", took, took.Seconds()/pacedAlone.Seconds())
			}
			w.checkRate()
		})
	}
}

func restoresComeFirst(t *testing.T) {
	for name, others := range map[string]func(*pacedWorld){
		"before sizes that are more wrong": func(w *pacedWorld) { w.add(pacedGood, pacedPod{wrong: 2}) },
		"before refused pods":              refusedPods(7000),
		"before pods that were refused earlier": func(w *pacedWorld) {
			refusedPods(7000)(w)
			w.run(10 * time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			const restores = 200
			w := newPacedWorld(t)
			others(w)
			w.run(10 * time.Second)
			took := w.until(time.Hour, haveMoved(w.add(restores, pacedPod{restores: true, wrong: 1})))
			if most := restores * time.Second / pacedRate * 6 / 5; took > most {
				t.Errorf("the restores take %v, want at most %v", took, most)
			}
			w.checkRate()
		})
	}
}

// The labels of some pods change all the time, so that these pods are the most wrong as
// soon as they are moved.
func podsThatAlwaysNeedADifferentSizeDoNotDelayOtherPods(t *testing.T) {
	for name, restores := range map[string]bool{"sized": false, "restored": true} {
		t.Run(name, func(t *testing.T) {
			w := newPacedWorld(t)
			w.add(200, pacedPod{wrong: 2, flips: true, restores: restores})
			others := w.add(2000, pacedPod{wrong: 1, restores: restores})
			// Alone, the others take 100 s.
			if took := w.until(10*time.Minute, haveMoved(others)); took > 112*time.Second {
				t.Errorf("the others take %v", took)
			}
			w.checkRate()
		})
	}
}

func failedPodsAreRetriedWhileOthersWait(t *testing.T) {
	w := newPacedWorld(t)
	failed := w.add(100, pacedPod{wrong: 2, answer: func(after time.Duration, _ int) error {
		if after < 10*time.Second {
			return errRefused
		}
		return nil
	}})
	w.add(20_000, pacedPod{wrong: 1})
	took := w.until(time.Hour, haveMoved(failed))
	t.Logf("%v", took)
	if most := 3 * time.Minute; took > most || w.pacer.backlog() < 10_000 {
		t.Errorf("the failed pods take %v, and %d pods still wait", took, w.pacer.backlog())
	}
	w.checkRate()
}

func failedPodsDoNotDelayEachOther(t *testing.T) {
	w := newPacedWorld(t)
	refusedPods(7000)(w)
	recovers := w.add(50, pacedPod{wrong: 1, answer: func(after time.Duration, _ int) error {
		if after < 10*time.Minute {
			return errRefused
		}
		return nil
	}})
	w.run(10 * time.Minute)
	before := w.tries
	// Each of 7,050 pods has its turn within 353 s, after a pause of up to 300 s.
	if took := w.until(time.Hour, haveMoved(recovers)); took > 11*time.Minute {
		t.Errorf("the recovered pods take %v", took)
	}
	w.run(10 * time.Minute)
	if tries, most := w.tries-before, pacedRate*int(w.clock.Since(podtest.Start.Add(10*time.Minute)).Seconds()); tries > most {
		t.Errorf("failed pods are tried %d times, want at most %d", tries, most)
	}
}

func unusedTurnsAreNotSaved(t *testing.T) {
	for name, before := range map[string]func(*pacedWorld){
		"while no pod waits": func(w *pacedWorld) {
			w.until(time.Hour, haveMoved(w.add(10, pacedPod{wrong: 1})))
			w.run(10 * time.Minute)
		},
		"while only failed pods wait": func(w *pacedWorld) {
			refusedPods(7000)(w)
			w.run(10 * time.Minute)
		},
		"while the API server is busy": func(w *pacedWorld) {
			w.add(pacedGood, pacedPod{wrong: 1, answer: func(after time.Duration, _ int) error {
				if after < 10*time.Minute {
					return errBusy
				}
				return nil
			}})
			w.run(10 * time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPacedWorld(t)
			before(w)
			moved := len(w.moved)
			w.add(pacedGood, pacedPod{wrong: 1})
			for seconds := 1; seconds <= 60; seconds++ {
				w.run(time.Second)
				if got, most := len(w.moved)-moved, pacedRate*seconds+pacedWorkers; got > most {
					t.Fatalf("%d pods moved in %d s, want at most %d", got, seconds, most)
				}
			}
			if got := len(w.moved) - moved; got < 1000 {
				t.Errorf("only %d pods moved in a minute", got)
			}
		})
	}
}

func podsThatWereMovedBeforeTheyFailedAreRetried(t *testing.T) {
	w := newPacedWorld(t)
	w.add(1, pacedPod{wrong: 3, answer: constantly(errRefused)}) // At least one pod always waits.
	refusedPods(7000)(w)
	recovers := w.add(50, pacedPod{wrong: 3, flips: true, answer: func(after time.Duration, try int) error {
		if try == 0 || after > 10*time.Minute {
			return nil
		}
		return errRefused
	}})
	w.run(10 * time.Minute)
	for _, p := range recovers {
		p.flips, p.moved = false, time.Time{}
	}
	if took := w.until(3*time.Hour, haveMoved(recovers)); took > 15*time.Minute {
		t.Errorf("the recovered pods take %v", took)
	}
}

func movesOfDeletedPodsAreForgotten(t *testing.T) {
	w := newPacedWorld(t)
	refusedPods(7000)(w)
	w.add(100, pacedPod{wrong: 1, flips: true})
	for range 20 {
		for _, p := range w.add(50, pacedPod{wrong: 1}) {
			w.until(time.Hour, haveMoved([]*pacedPod{p}))
			w.pacer.gone(p.name)
		}
	}
	if n := len(w.pacer.moves); n > 100 {
		t.Errorf("%d pods are remembered, but only 100 exist", n)
	}
}

// A tenant creates ever more pods that are the most wrong, deletes them when they were moved, and lets the needs of others
// flip.
func podsInOneNamespaceDoNotDelayThoseInOthers(t *testing.T) {
	in := func(namespace string) types.NamespacedName { return types.NamespacedName{Namespace: namespace} }
	w := newPacedWorld(t)
	w.add(5000, pacedPod{name: in("crowd"), wrong: 2, flips: true})
	var others []*pacedPod
	for _, namespace := range []string{"a", "b", "c"} {
		others = append(others, w.add(20, pacedPod{name: in(namespace), wrong: 0.1})...)
	}
	moved := 0
	took := w.until(time.Hour, func() bool {
		for ; moved < len(w.moved); moved++ {
			w.add(2, pacedPod{name: in("crowd"), wrong: 3})
		}
		return haveMoved(others)()
	})
	// Every second of 20 turns a second is theirs or the crowd's, in turn: 60 pods take 80 of these.
	if took > 9*time.Second {
		t.Errorf("the others take %v", took)
	}
	w.checkRate()
}

// A tenant creates ever more pods that free much, and are the most wrong.
func podsInOneNamespaceDoNotTakeAllThatThoseInOthersMayFree(t *testing.T) {
	const others = 500 // They free 50 of 1000 cores. Within an hour, all may free 250.
	for _, tc := range []struct {
		name string
		// frees is how many cores each pod of the crowd frees.
		frees int64
		// within is how long the others take at most, and most and least are how many of the crowd have turns then.
		within      time.Duration
		least, most int
	}{
		{"pods that free little", 1, 2 * time.Minute, 100, 125},
		{"pods that free much", 20, 2 * time.Minute, 6, 6},
		{"pods that free more than half of what is permitted", 200, 2 * time.Minute, 1, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			clock := testingclock.NewFakeClock(podtest.Start)
			p := newPacer(func() pace { return pace{perSecond: pacedRate, freedPerHour: 0.25} }, func() node.Resources { return cores(1000) }, pacedWorkers, clock)
			p.recall(nil)
			needs := map[types.NamespacedName]need{}
			add := func(namespace string, n need) {
				name := types.NamespacedName{Namespace: namespace, Name: strconv.Itoa(len(needs))}
				needs[name] = n
				p.mayGo(name, n)
			}
			crowd := need{wrong: 3, frees: cores(tc.frees)}
			for range 5 {
				add("crowd", crowd)
			}
			for range others {
				add("a", need{wrong: 0.1, frees: node.Resources{CPU: 100}})
			}
			moved := map[string]int{}
			for clock.Since(podtest.Start) < tc.within && moved["a"] < others {
				name, wait := p.next()
				if wait != 0 {
					clock.Step(max(wait, time.Millisecond))
					continue
				}
				p.take(name)
				p.mayGo(name, needs[name])
				p.used(name, nil)
				p.release(name)
				if moved[name.Namespace]++; name.Namespace == "crowd" {
					add("crowd", crowd)
				}
			}
			if moved["a"] < others || moved["crowd"] < tc.least || moved["crowd"] > tc.most {
				t.Errorf("%v after %v", moved, clock.Since(podtest.Start))
			}
		})
	}
}
