package loop

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestAffected(t *testing.T) {
	t.Run("queues only the pods that a change to the rules affects", queuesOnlyThePodsThatAChangeToTheRulesAffects)
	t.Run("does not keep outdated rules", doesNotKeepOutdatedRules)
	t.Run("queues pods planned with rules in between", queuesPodsPlannedWithRulesInBetween)
}

func queuesOnlyThePodsThatAChangeToTheRulesAffects(t *testing.T) {
	labelled := func(p *corev1.Pod) { p.Labels = map[string]string{"env": "test"} }
	one := podtest.Amounts{"1", "", "1Gi", ""}
	layer := func(n4 float64, rules ...ratios.Rule) *ratios.Table {
		l := clustertest.Published()
		l.Ratios["n4"] = ratios.Ratio{CPUPerf: n4, MemoryPerf: 1}
		l.Rules = rules
		table, err := ratios.Merge([]*ratios.Layer{l})
		if err := err; err != nil {
			t.Fatal(err)
		}
		return table
	}
	atMost := func(n4, most float64) *ratios.Table {
		l := clustertest.Published()
		l.Ratios["n4"], l.MaxSpeedRatio = ratios.Ratio{CPUPerf: n4, MemoryPerf: 1}, most
		table, err := ratios.Merge([]*ratios.Layer{l})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	rule := func(n2d float64) ratios.Rule {
		return ratios.Rule{Name: "test", Match: policy.Criteria{Labels: map[string]string{"env": "test"}}, Baseline: "n4", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: n2d, MemoryPerf: 1}}}
	}
	paused := hold.NewTable([]hold.Hold{{Kind: hold.Pause, Scope: hold.Scope{Namespace: "shop", Pod: "lost", UID: "shop/lost"}}})
	none := hold.NewTable(nil)
	restore := func(emergency bool) *hold.Table {
		return hold.NewTable([]hold.Hold{{Kind: hold.Restore, Scope: hold.Scope{Namespace: "shop", Pod: "n4", UID: "shop/n4"}, Emergency: emergency}})
	}
	with := func(table *ratios.Table, holds *hold.Table) cluster.Rules {
		return cluster.Rules{Table: table, Holds: holds}
	}
	for _, tc := range []struct {
		name        string
		before, now cluster.Rules
		want        []string
	}{
		{"a different ratio of one node type", with(layer(1.25), none), with(layer(2), none), []string{"n4", "n4-test"}},
		{"a ratio that becomes implausible", with(layer(1.25), none), with(layer(125), none), []string{"n4", "n4-test"}},
		{"a ratio that is corrected", with(layer(125), none), with(layer(1.25), none), []string{"n4", "n4-test"}},
		{"a maximum that makes a ratio plausible", with(layer(125), none), with(atMost(125, 125), none), []string{"n4", "n4-test"}},
		{"a maximum that changes nothing", with(layer(1.25), none), with(atMost(1.25, 125), none), nil},
		{"the same ratios", with(layer(1.25), none), with(layer(1.25), none), nil},
		{"a different ratio in a rule", with(layer(1.25, rule(1)), none), with(layer(1.25, rule(2)), none), []string{"n2d-test"}},
		{"another rule", with(layer(1.25), none), with(layer(1.25, rule(1)), none), []string{"n2d-test", "n4-test"}},
		{"a hold", with(layer(1.25), none), with(layer(1.25), paused), []string{"lost"}},
		{"a restore that becomes an emergency", with(layer(1.25), restore(false)), with(layer(1.25), restore(true)), []string{"n4"}},
		{"a restore that is no longer an emergency", with(layer(1.25), restore(true)), with(layer(1.25), restore(false)), []string{"n4"}},
		{"an emergency that goes on", with(layer(1.25), restore(true)), with(layer(1.25), restore(true)), nil},
		{"both", with(layer(1.25), none), with(layer(2), paused), []string{"lost", "n4", "n4-test"}},
		{"the first rules", cluster.Rules{}, with(layer(1.25), none), []string{"lost", "n2d", "n2d-test", "n4", "n4-test"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := filled(t, []*corev1.Pod{
				podtest.Pod(one, clustertest.Named("shop", "n2d", "n2d")), podtest.Pod(one, clustertest.Named("shop", "n2d-test", "n2d"), labelled),
				podtest.Pod(one, clustertest.Named("shop", "n4", "n4")), podtest.Pod(one, clustertest.Named("shop", "n4-test", "n4"), labelled), podtest.Pod(one, clustertest.Named("shop", "lost", "gone")),
			}, []*corev1.Node{clustertest.Node("n2d", "n2d", "8"), clustertest.Node("n4", "n4", "8")})
			if tc.before.Table != nil {
				for _, of := range r.Cluster.Pods("").List() {
					r.ledger.planned(r.Planner.Plan(r.Cluster.Snapshot(of, tc.before)), tc.before, difference{}, podtest.Start)
				}
			}
			r.enqueueAffected(tc.before, tc.now)
			var queued []string
			for r.queue.Len() > 0 {
				name, _ := r.queue.Get()
				queued = append(queued, name.Name)
			}
			slices.Sort(queued)
			if !slices.Equal(queued, tc.want) {
				t.Errorf("queued %v, want %v", queued, tc.want)
			}
		})
	}
}

// A ratio changes several times, and after each change a pod on another node type is
// planned: no pod keeps the ratios that it was planned with.
func doesNotKeepOutdatedRules(t *testing.T) {
	const changes = 10
	rules := func(i int) cluster.Rules {
		layer := clustertest.Published()
		layer.Ratios["n4"] = ratios.Ratio{CPUPerf: 1.25 + float64(i)/100, MemoryPerf: 1}
		table, err := ratios.Merge([]*ratios.Layer{layer})
		if err != nil {
			t.Fatal(err)
		}
		return cluster.Rules{Table: table}
	}
	var pods []*corev1.Pod
	for i := range changes {
		pods = append(pods, podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", fmt.Sprint("pod-", i), "n2d")))
	}
	l := filled(t, pods, []*corev1.Node{clustertest.Node("n2d", "n2d", "8"), clustertest.Node("n4", "n4", "8")})
	planned := func(name string, in cluster.Rules) {
		l.ledger.planned(l.Planner.Plan(l.Cluster.Snapshot(l.Cluster.Pods("shop").Get(name), in)), in, difference{}, podtest.Start)
	}
	before := rules(0)
	for i := range pods {
		planned(pods[i].Name, before)
	}
	for i := range pods {
		now := rules(i + 1)
		l.enqueueAffected(before, now)
		before = now
		planned(pods[i].Name, now)
	}
	for name, e := range l.ledger.pods {
		if e.in != before {
			t.Errorf("%s keeps outdated rules", name)
		}
	}
}

// Two changes follow each other so fast that only workers see the first.
func queuesPodsPlannedWithRulesInBetween(t *testing.T) {
	holds := hold.NewTable(nil)
	rules := func(n4 float64) cluster.Rules {
		layer := clustertest.Published()
		layer.Ratios["n4"] = ratios.Ratio{CPUPerf: n4, MemoryPerf: 1}
		table, err := ratios.Merge([]*ratios.Layer{layer})
		if err != nil {
			t.Fatal(err)
		}
		return cluster.Rules{Table: table, Holds: holds}
	}
	one := podtest.Amounts{"1", "", "1Gi", ""}
	l := filled(t, []*corev1.Pod{
		podtest.Pod(one, clustertest.Named("shop", "before", "n2d")), podtest.Pod(one, clustertest.Named("shop", "between", "n2d")), podtest.Pod(one, clustertest.Named("shop", "now", "n2d")),
	}, []*corev1.Node{clustertest.Node("n2d", "n2d", "8")})
	in := map[string]cluster.Rules{"before": rules(1.25), "between": rules(1.5), "now": rules(2)}
	for name, in := range in {
		l.ledger.planned(l.Planner.Plan(l.Cluster.Snapshot(l.Cluster.Pods("shop").Get(name), in)), in, difference{}, podtest.Start)
	}
	l.enqueueAffected(in["before"], in["now"])
	if n := l.queue.Len(); n != 1 {
		t.Fatalf("%d pods queued, want 1", n)
	}
	if name, _ := l.queue.Get(); name.Name != "between" {
		t.Errorf("queued %s, want between", name)
	}
}
