package reconciler

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// uses is what containers use: one less than its author wrote, and one more.
var uses = map[string]struct{ cpu, memory int64 }{"idle": {200, 200 << 20}, "busy": {500, 500 << 20}}

// following is a loop on a cluster with a source of usage.
type following struct {
	*apiServer
	*Reconciler
	ratios *ratiotest.Memory
	made   int
	// of are the containers that the source measures.
	mu sync.Mutex
	of []*corev1.Pod
}

// Name implements usage.Source, as does Read.
func (f *following) Name() string { return "steady" }

func (f *following) Read(_ context.Context, since, until time.Time, observe func(usage.Sample)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.of {
		for at := since.Truncate(time.Second).Add(time.Second); !at.After(until); at = at.Add(time.Second) {
			for _, c := range p.Spec.Containers {
				sample := usage.Sample{Namespace: p.Namespace, Name: p.Name, Container: c.Name}
				sample.UID, sample.At, sample.Length, sample.Resource, sample.Usage = string(p.UID), at, time.Second, history.CPU, uses[c.Name].cpu
				observe(sample)
				sample.Resource, sample.Usage = history.Memory, uses[c.Name].memory
				observe(sample)
			}
		}
	}
	return nil
}

// demands returns ratios with a demand.
func demands(of policy.Demand, guard policy.Guard) ratios.Update {
	return ratios.Update{Layer: &ratios.Layer{
		Settings: keys.Some(policy.Settings{Guard: guard, Demand: of}, "demand.minHistory", "demand.minCoverage"),
		Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 1.25, MemoryPerf: 1}},
	}}
}

// byUsage is a demand by which pods are resized.
var byUsage = policy.Demand{From: policy.FromUsage, Mode: policy.Apply}

// follow starts a loop that resizes pods by usage.
func follow(t *testing.T, guard policy.Guard, rate float64) *following {
	t.Helper()
	cluster := localcluster.ForTest(t, "")
	config := cluster.Config()
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	f := &following{apiServer: &apiServer{client: client, dynamic: dynamic.NewForConfigOrDie(config), version: cluster.Version()}, ratios: ratiotest.NewMemory("memory", demands(byUsage, guard))}
	f.nodeOf(t, "a", "n2d")
	f.nodeOf(t, "b", "n4")
	store := ratios.NewStore(f.ratios)
	var err error
	if f.Reconciler, err = New(Config{
		Client: client, Dynamic: f.dynamic, Writer: client, Asker: client, Ratios: store, Holds: clustertest.NoHolds{},
		Planner: plan.Planner{OwnerKinds: []string{"Namespace"}},
		Events:  loop.NoEvents(), Metrics: prometheus.NewRegistry(), Workers: 2, ResizesPerSecond: rate,
		Usage: &demand.Usage{Sources: []demand.Source{{Source: f, Interval: 200 * time.Millisecond}}, Interval: 200 * time.Millisecond},
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- store.Run(ctx) }()
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				t.Errorf("ended with %v", err)
			}
		}
	})
	return f
}

// pods creates a pod on each node with these sizes, which belong to the workload of the namespace.
func (f *following) pods(t *testing.T, namespace string, idle, busy podtest.Amounts, nodes ...string) (all []*corev1.Pod) {
	t.Helper()
	controller := true
	owner, err := f.client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		f.made++
		p := f.podIn(t, namespace, idle, func(p *corev1.Pod) {
			p.Name, p.Spec.NodeName, p.Spec.Containers[0].Name = fmt.Sprintf("pod-%d", f.made), node, "idle"
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "busy", Image: "none", Resources: busy.Requirements()})
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: namespace, UID: owner.UID, Controller: &controller}}
		})
		all = append(all, p)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of = append(f.of, all...)
	return all
}

// warm returns the namespace of a workload whose needs are known. A size that is known later is not lowered for a day.
func (f *following) warm(t *testing.T, guard policy.Guard) (namespace string) {
	t.Helper()
	namespace = f.namespace(t)
	first := f.pods(t, namespace, podtest.Amounts{"1", "", "1Gi", ""}, podtest.Amounts{"1", "", "1Gi", ""}, "a")
	f.ratios.Set(demands(byUsage, guard))
	localcluster.Eventually(t, "what the workload needs", func() error {
		planned, err := f.Preview(t.Context(), types.NamespacedName{Namespace: namespace, Name: first[0].Name}, query.PreviewOptions{})
		if err != nil {
			return err
		}
		for _, c := range planned.Containers {
			if c.Unmeasured[0] || c.Needs[0].Recommended == nil {
				return fmt.Errorf("of container %s nothing is known", c.Name)
			}
		}
		return nil
	})
	return namespace
}

// delete deletes all pods.
func (f *following) delete(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.of {
		if err := f.client.CoreV1().Pods(p.Namespace).Delete(t.Context(), p.Name, *metav1.NewDeleteOptions(0)); err != nil {
			t.Fatal(err)
		}
	}
	f.of = nil
}

// sizedByUsage waits until the containers of the pods have the sizes that usage shows: the memory of new pods is not lowered
// before anyone knows how much they use.
func (f *following) sizedByUsage(t *testing.T, pods []*corev1.Pod) {
	t.Helper()
	for _, p := range pods {
		localcluster.Eventually(t, "sizes from usage", func() error {
			now := f.get(t, p)
			idle, busy := now.Spec.Containers[0].Resources.Requests, now.Spec.Containers[1].Resources.Requests
			if idle.Cpu().MilliValue() > 400 || busy.Cpu().MilliValue() < 400 || busy.Memory().Value() < 400<<20 || now.Annotations[contract.AppliedDemand] == "" {
				return fmt.Errorf("it has %v and %v, %v", idle, busy, now.Annotations)
			}
			return nil
		})
	}
}

// TestFollowsUsage runs the loop with rules that apply usage, and then no longer do.
func TestFollowsUsage(t *testing.T) {
	t.Parallel()
	t.Run("pods have their originals again, exactly, once they no longer follow usage", originalsAgain)
	t.Run("a mode that is no longer applied is tried on a few pods first", modeIsTriedFirst)
	t.Run("a mode that is no longer applied is paced", modeIsPaced)
}

func originalsAgain(t *testing.T) {
	t.Parallel()
	f := follow(t, everyPod, 0)
	idle := map[string]podtest.Amounts{"Burstable": {"1", "2", "1Gi", "2Gi"}, "Guaranteed": {"1", "1", "1073741825", "1073741825"}}
	busy := map[string]podtest.Amounts{"Burstable": {"301m", "603m", "300000001", "600000003"}, "Guaranteed": {"301m", "301m", "300000001", "300000001"}}
	for name, to := range map[string]policy.Demand{
		"observe": {From: policy.FromUsage, Mode: policy.Observe},
		"author":  {From: policy.FromAuthor, Mode: policy.Apply}, "default": {},
	} {
		for class := range idle {
			pods := f.pods(t, f.warm(t, everyPod), idle[class], busy[class], "a", "b")
			f.sizedByUsage(t, pods)
			larger := make([]*corev1.Pod, len(pods))
			for i, p := range pods {
				larger[i] = f.get(t, p)
			}
			f.ratios.Set(demands(to, everyPod))
			for i, p := range pods {
				want := make([]corev1.ResourceRequirements, 2)
				for k := range want {
					want[k] = *p.Spec.Containers[k].Resources.DeepCopy()
					if k == 1 && f.keepsMemoryLimits() {
						want[k].Limits[corev1.ResourceMemory] = larger[i].Spec.Containers[k].Resources.Limits[corev1.ResourceMemory]
						if class == "Guaranteed" {
							want[k].Requests[corev1.ResourceMemory] = want[k].Limits[corev1.ResourceMemory]
						}
					}
					if i == 1 { // 1.25 times as fast.
						for _, amounts := range []corev1.ResourceList{want[k].Requests, want[k].Limits} {
							// In whole millicores, the nearest.
							amounts[corev1.ResourceCPU] = *resource.NewMilliQuantity((amounts.Cpu().MilliValue()*8+5)/10, resource.DecimalSI)
						}
					}
				}
				localcluster.Eventually(t, "the originals", func() error {
					now := f.get(t, p)
					for k := range want {
						if got := now.Spec.Containers[k].Resources; !equality.Semantic.DeepEqual(got, want[k]) {
							return fmt.Errorf("%s, %s, node %s: %v, want %v", name, class, now.Spec.NodeName, got, want[k])
						}
					}
					if record, ok := now.Annotations[contract.AppliedDemand]; ok || now.Annotations[contract.AppliedInstanceType] == "" {
						return fmt.Errorf("%s, %s: it records the demand %q, and %v", name, class, record, now.Annotations)
					}
					return nil
				})
			}
			f.delete(t)
		}
	}
}

// reasonsOf returns how many of the pods have their desired sizes, and how many wait for a reason.
func (f *following) reasonsOf(t *testing.T, pods []*corev1.Pod, waiting contract.Reason) (aligned, waits int) {
	t.Helper()
	for _, p := range pods {
		planned, err := f.Preview(t.Context(), types.NamespacedName{Namespace: p.Namespace, Name: p.Name}, query.PreviewOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if planned.Decision == plan.Align {
			aligned++
		}
		for _, reason := range planned.Reasons {
			if reason.Code == waiting {
				waits++
			}
		}
	}
	return aligned, waits
}

func modeIsTriedFirst(t *testing.T) {
	t.Parallel()
	f := follow(t, policy.Guard{}, 0)
	pods := f.pods(t, f.namespace(t), podtest.Amounts{"100m", "", "64Mi", ""}, podtest.Amounts{"100m", "", "64Mi", ""}, "a", "a", "a", "a")
	localcluster.Eventually(t, "larger sizes from usage", func() error {
		for _, p := range pods {
			if now := f.get(t, p); now.Spec.Containers[1].Resources.Requests.Cpu().MilliValue() < 400 || now.Annotations[contract.AppliedDemand] == "" {
				return fmt.Errorf("%s has %v", p.Name, now.Spec.Containers[1].Resources)
			}
		}
		return nil
	})
	f.ratios.Set(demands(policy.Demand{From: policy.FromUsage, Mode: policy.Observe}, policy.Guard{}))
	localcluster.Eventually(t, "one pod to try the smaller sizes, and the others to wait", func() error {
		smaller := 0
		for _, p := range pods {
			if f.get(t, p).Spec.Containers[1].Resources.Requests.Cpu().MilliValue() == 100 {
				smaller++
			}
		}
		if _, waits := f.reasonsOf(t, pods, contract.WaitingForProof); smaller != 1 || waits != 3 {
			return fmt.Errorf("%d pods are smaller, and %d wait", smaller, waits)
		}
		return nil
	})
}

func modeIsPaced(t *testing.T) {
	t.Parallel()
	f := follow(t, everyPod, 0.001)
	// Node a has room for all of them even while none of them has been lowered.
	pods := f.pods(t, f.warm(t, everyPod), podtest.Amounts{"800m", "", "1Gi", ""}, podtest.Amounts{"200m", "", "200Mi", ""}, "a", "a", "a", "a")
	f.sizedByUsage(t, pods) // New pods need no turn.
	f.ratios.Set(demands(policy.Demand{From: policy.FromUsage, Mode: policy.Observe}, everyPod))
	localcluster.Eventually(t, "all pods except one or none to wait for their turn", func() error {
		if aligned, waits := f.reasonsOf(t, pods, contract.WaitingForTurn); aligned > 1 || aligned+waits != 4 {
			return fmt.Errorf("%d pods have their sizes, and %d wait", aligned, waits)
		}
		return nil
	})
}
