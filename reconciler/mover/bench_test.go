package mover

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// shortNodes says which nodes lack cpu.
type shortNodes map[string]bool

// Known implements Headroom.
func (shortNodes) Known() bool { return true }

// Lacks implements Headroom.
func (s shortNodes) Lacks(name string) (lacks node.Resources, inUse bool) {
	if s[name] {
		lacks.CPU = 1000
	}
	return lacks, false
}

// Rest implements Headroom.
func (shortNodes) Rest(*pod.Pod, node.Resources) int64 { return 1 }

// ofMany returns the mover of a cluster of 5,000 nodes and 150,000 pods in which so many nodes are short, and no other node takes
// their pods: all that could move are judged again and again.
func ofMany(b *testing.B, short int) *Mover {
	const nodes, pods = 5_000, 150_000
	w := &world{T: &testing.T{}, full: map[string]bool{}, known: map[types.UID]bool{}}
	all, objects := make([]*corev1.Node, nodes), map[string]*corev1.Pod{}
	for i := range all {
		all[i] = clustertest.Node(fmt.Sprint("node-", i), "n2d", "1")
		all[i].Status.Allocatable[corev1.ResourcePods] = resource.MustParse("110")
		all[i].Status.Conditions = append(all[i].Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue})
	}
	many := clustertest.Many(b, pods, pods/20)
	for i, p := range many {
		p.Spec.NodeName = fmt.Sprint("node-", i%nodes)
		ready(p, true)
		p.Annotations = map[string]string{evict.SafeToEvict: "true"}
		objects[p.Namespace+"/"+p.Name] = p
	}
	w.cluster = clustertest.Of(b, many, all)
	w.settle(policy.Eviction{Enabled: true, After: 10 * time.Minute, MaxPerHour: 10})
	client := fake.NewClientset()
	client.PrependReactor("get", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		get := action.(clienttesting.GetAction)
		return true, objects[get.GetNamespace()+"/"+get.GetName()].DeepCopy(), nil
	})
	lacking := shortNodes{}
	m := New(Config{
		Cluster: w.cluster, Planner: w.cluster.Planner, Holds: clustertest.NoHolds{}, Loop: w, Client: client, Watcher: client, Headroom: lacking,
		Evict: func(context.Context, *corev1.Pod, func(context.Context) error) error {
			b.Error("a pod moves, although no node has room")
			return nil
		},
		Tell: func(types.NamespacedName, types.UID, plan.Reason) {}, DryRun: true, Clock: w.cluster.Clock,
	})
	for i := range short {
		lacking[fmt.Sprint("node-", i)] = true
		m.NodeChanged(fmt.Sprint("node-", i))
	}
	return m
}

// BenchmarkLook measures looks for pods that may move while nothing can be done, and how much of a core they take: Run pauses after
// each.
func BenchmarkLook(b *testing.B) {
	for _, short := range []int{0, 50} {
		b.Run(fmt.Sprint(short, " nodes short"), func(b *testing.B) {
			m := ofMany(b, short)
			ctx := klog.NewContext(b.Context(), klog.Logger{})
			m.look(ctx)
			begin := podtest.CPUTime(b)
			for b.Loop() {
				clustertest.Clock(m.Cluster).Step(lastRetry + time.Minute) // All are due again.
				m.look(ctx)
			}
			used := (podtest.CPUTime(b) - begin) / time.Duration(b.N)
			b.ReportMetric(used.Seconds(), "cpu-s/op")
			b.ReportMetric(used.Seconds()/(used+min(max(leastPause, share*used), mostPause)).Seconds(), "cores")
		})
	}
}
