package demand

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// becomes changes a pod of the fixture.
func (f *fixture) becomes(t *testing.T, name string, change func(*corev1.Pod)) {
	t.Helper()
	for _, p := range f.source.pods {
		if p.Name != name {
			continue
		}
		before := f.of.Pods("shop").Get(name)
		p = p.DeepCopy()
		change(p)
		now := pod.From(p)
		if err := f.of.Know([]*pod.Pod{now}, nil); err != nil {
			t.Fatal(err)
		}
		f.podChanged(before, now)
	}
}

func TestHarms(t *testing.T) {
	kill := func(f *fixture) func(*corev1.Pod) { return killedAt(f.Clock.Now().Add(-time.Second)) }
	revert := func(f *fixture) func(*corev1.Pod) {
		return withReverts(pod.Revert{
			At: f.Clock.Now().Add(-time.Second), Container: "app", Measure: sizing.CPU, Hurt: sizing.Amount{Request: 500},
			Back: sizing.Amount{Request: 1000}, Times: 1, Harm: contract.CPUPressure,
		})
	}
	for _, leads := range []bool{true, false} {
		for name, of := range map[string]struct {
			change func(*fixture) func(*corev1.Pod)
			floor  func(f *fixture) int64
		}{
			"a kill":   {kill, func(f *fixture) int64 { return (*f.needs.Load())[usage.Key{Container: app}].Memory.Floor.Limit }},
			"a revert": {revert, func(f *fixture) int64 { return (*f.needs.Load())[usage.Key{Container: app}].CPU.Floor.Request }},
		} {
			t.Run(fmt.Sprintf("%s counts without a publication of everything; the replica leads: %v", name, leads), func(t *testing.T) {
				f := newFixture(t, following())
				again := &changes{}
				f.of.Serve(again, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
				f.round(t)
				f.leads, again.pods = leads, nil
				other := usage.Key{Container: history.Container{Namespace: "shop", Kind: "Deployment", Workload: "other", Name: "app"}}
				before := (*f.needs.Load())[usage.Key{Container: app}]
				(*f.needs.Load())[other] = before
				f.becomes(t, "web-1-x", of.change(f))
				if of.floor(f) != 0 {
					t.Fatal("it counts before anything is published")
				}
				f.publishHarms(t.Context())
				if of.floor(f) == 0 || len(again.pods) != 2 {
					t.Errorf("%d; planned again: %v", of.floor(f), again.pods)
				}
				if (*f.needs.Load())[other] != before || before.Memory.Floor != (sizing.Amount{}) {
					t.Error("another workload needs something else")
				}
				revision, same := f.needsOf(t, "web-1-y").Memory.Revision, (*f.needs.Load())[usage.Key{Container: app}]
				f.publishHarms(t.Context())
				f.becomes(t, "web-1-y", func(*corev1.Pod) {})
				f.publishHarms(t.Context())
				if (*f.needs.Load())[usage.Key{Container: app}] != same {
					t.Error("what has changed nothing is published")
				}
				if f.publish(t.Context()); f.needsOf(t, "web-1-y").Memory.Revision != revision {
					t.Error("the next publication of everything says something else")
				}
			})
		}
	}
	t.Run("before the first publication wait for that", func(t *testing.T) {
		f := newFixture(t, following())
		f.becomes(t, "web-1-x", kill(f))
		f.publishHarms(t.Context())
		if f.Table().Len() != 0 || f.needs.Load() != nil {
			t.Error("something is published")
		}
	})
	t.Run("are published a few seconds later", func(t *testing.T) {
		f := newFixture(t, following())
		f.round(t)
		f.leads, f.Clock = false, tickless{clustertest.Clock(f.of)} // So that everything is published once.
		watched := f.Watch()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			f.Run(ctx)
		}()
		defer func() { cancel(); <-ended }()
		<-watched
		f.becomes(t, "web-1-x", kill(f))
		localcluster.Eventually(t, "the floor of the kill", func() error {
			clustertest.Clock(f.of).Step(calm)
			if (*f.needs.Load())[usage.Key{Container: app}].Memory.Floor.Limit == 0 {
				return errors.New("none")
			}
			return nil
		})
		select {
		case <-watched:
			t.Error("everything was published")
		default:
		}
	})
}
