package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// rules returns arbitrary rules.
func (a arbitrary) rules() *need.Rules {
	r := rules()
	u := &r.Updates
	u.Separate, u.InUse, u.AnyKill = a.oneIn(2), a.oneIn(2), a.oneIn(2)
	u.Band, u.After = at(a, 0, 0.05, 0.1), at(a, 0, time.Minute, 12*time.Hour)
	u.DecreaseCPU, u.DecreaseMemory, u.DecreaseLimit = at(a, 0, time.Minute, 24*time.Hour), at(a, 0, time.Minute, 36*time.Hour), at(a, 0, time.Minute, 72*time.Hour)
	r.Limits = need.Limits{
		CPU: at(a, need.Follow, need.Keep, need.None), Memory: at(a, need.Follow, need.Keep, need.None, need.Multiple, need.Multiple),
		MemoryMultiple: at(a, 0.5, 1, 1.3, 2, 1e300, math.NaN(), math.Inf(1)), MemoryHeadroom: at[int64](a, 0, 250*mib, math.MaxInt64),
	}
	return r
}

// recommendation returns what a resource may need according to usage, however odd.
func (a arbitrary) recommendation(r *need.Rules, most int64) need.Recommendation {
	amount := func() int64 {
		switch a.IntN(12) {
		case 0:
			return 0
		case 1:
			return math.MaxInt64
		}
		return a.upTo(most)
	}
	of := need.Recommendation{Target: amount(), Rules: r, Keeps: at(a, "", "", "too little is known"), KeepsLimit: at(a, "", "", "no peaks")}
	if of.Lower, of.Upper = of.Target/2, of.Target; a.oneIn(4) {
		of.Lower, of.Upper = amount(), amount()
	}
	if a.oneIn(3) {
		of.Max = amount()
	}
	return of
}

// TestDemandSettles carries out plans by usage for arbitrary pods: each keeps the rules for every plan, and then there is
// nothing to change until something changes, or until the time that the plan says.
func TestDemandSettles(t *testing.T) {
	const seed1, seed2, pods, seconds = 27, 28, 400, 10_000_000
	counts := map[string]int{}
	for i := range pods {
		a := arbitrary{rand.New(rand.NewPCG(seed1, seed2+uint64(i)))}
		p := a.pod()
		planner := Planner{OwnerKinds: DefaultOwnerKinds, Sidecars: a.oneIn(2), KeepMemoryLimits: a.oneIn(4)}
		table, node := a.table(t), podtest.Node(a.nodeType())
		d := &shown{needs: map[string]*need.Container{}, uses: at(a, 0, a.upTo(1<<40))}
		for c := range podtest.ContainersOf(p) {
			if r := a.rules(); !a.oneIn(3) {
				d.needs[c.Name] = &need.Container{CPU: a.recommendation(r, 1e6), Memory: a.recommendation(r, 1<<40)}
			}
		}
		if a.oneIn(2) {
			ago := func() time.Time { return podtest.At(seconds - a.IntN(4*24*3600)) }
			d.resized = need.Resized{CPU: ago(), Memory: ago(), MemoryLimit: ago()}
		}
		planAt := func(p *corev1.Pod, now int) *Plan {
			s := &Snapshot{Pod: pod.From(p), Table: table, Around: safety.Surroundings{Node: node}, Demand: d, Now: podtest.At(now)}
			plan := planner.Plan(s)
			checkPlan(t, p, s, plan)
			if !plan.ReplanAt.IsZero() && !plan.ReplanAt.After(s.Now) {
				t.Errorf("planned at %v, and again at %v", s.Now, plan.ReplanAt)
			}
			return plan
		}
		plan := planAt(p, seconds)
		p = carriedOut(t, p, plan, seconds)
		counts[plan.Decision.String()]++
		if plan.Decision == Resize && d.resized != (need.Resized{}) {
			d.resized = need.Resized{CPU: podtest.At(seconds), Memory: podtest.At(seconds), MemoryLimit: podtest.At(seconds)}
		}
		for now, steps := seconds+1, 0; steps < 3; steps++ {
			again := planAt(p, now)
			if again.Pending() {
				t.Errorf("planned again after %ds, it is %v because of %v: %s\n%+v", now-seconds, again.Decision, again.Reasons, again.Describe(), again.Containers)
				break
			}
			if again.ReplanAt.IsZero() {
				now += 100 * 24 * 3600
			} else if next := int(again.ReplanAt.Sub(podtest.At(0))/time.Second) - 1; next > now {
				now = next
			}
		}
		if t.Failed() {
			t.Fatalf("seeds %d, %d, %s", seed1, seed2+uint64(i), fmt.Sprintf("%+v %v %v", plan.Containers, plan.Decision, plan.Reasons))
		}
	}
	if counts["resize"] < pods/4 {
		t.Errorf("decisions %v", counts)
	}
}
