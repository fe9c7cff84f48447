package demand

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

func TestSavings(t *testing.T) {
	t.Run("a pod saves what it requests less than its author wrote", aPodSavesWhatItRequestsLess)
	t.Run("usage is in units of the node where a pod runs", usageIsInUnitsOfTheNode)
	t.Run("what is not known is neither used nor measured", whatIsNotKnownIsNeitherUsedNorMeasured)
	t.Run("pods are throttled of which a running container is", podsAreThrottledOfWhichARunningContainerIs)
	t.Run("sums are by workload, and pods without one come last", sumsAreByWorkload)
	t.Run("growth counts against what others save", growthCountsAgainstWhatOthersSave)
	t.Run("each node type has its price", eachNodeTypeHasItsPrice)
	t.Run("what is saved stays right where sums end", whatIsSavedStaysRightWhereSumsEnd)
	t.Run("ends with the error of its view or context", savingsEndWithTheErrorOfTheirViewOrContext)
}

// resizedFrom makes the container app one that we resized, with these originals.
func resizedFrom(author podtest.Amounts) func(*corev1.Pod) {
	var pairs, fields []string
	for i, name := range []string{"original-cpu.app", "original-cpu-limit.app", "original-memory.app", "original-memory-limit.app"} {
		if author[i] != "" {
			pairs, fields = append(pairs, name, author[i]), append(fields, contract.Prefix+name)
		}
	}
	return func(p *corev1.Pod) {
		podtest.Annotated(append(pairs, "applied-instance-type", "n4")...)(p)
		podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10, "app"), podtest.Managed(contract.FieldManager, "", 11, append(fields, contract.Reverts)...))(p)
	}
}

// ofWeb makes a pod of the Deployment web on a node.
func ofWeb(name, node string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		clustertest.Named("shop", name, node)(p)
		p.OwnerReferences[0].Name, p.Labels = "web-1", map[string]string{"app": "web", "pod-template-hash": "1"}
	}
}

// savers returns the savings of pods on node a, a n2d, and node b, a n4, which is 1.25 times as fast. Each container uses
// half a core and 256 Mi on the baseline, unless it has the name unknown.
func saversOf(t *testing.T, layer *ratios.Layer, of Selection, pods ...*corev1.Pod) (all []*Saver) {
	t.Helper()
	in := clustertest.Of(t, pods, []*corev1.Node{clustertest.Node("a", "n2d", "8"), clustertest.Node("b", "n4", "8")})
	d := New(Config{Cluster: in, Ratios: clustertest.Store(t, layer), Planner: in.Planner, Leads: func() bool { return true }, Clock: clustertest.Clock(in)})
	for _, namespace := range in.Pods("").Namespaces() {
		all = append(all, d.saving(namespace, &of, of.chosen(), d.Ratios.Table(), func(key usage.Key) (recommend.Recommendation, bool) {
			known, throttled := recommend.Known{Age: time.Hour, Coverage: 1}, 0.09
			if key.Name == "throttled" {
				throttled = 0.11
			}
			if key.Name == "cpuOnly" {
				known = recommend.Known{}
			}
			return recommend.Recommendation{Used: recommend.Amounts{CPU: 500, Memory: 256 << 20}, MemoryKnown: known, Throttled: throttled},
				key.Kind == "Deployment" && key.Name != "unknown"
		})...)
	}
	return all
}

// mebibytes returns amounts of millicores and Mi.
func mebibytes(cpu, memory int64) recommend.Amounts {
	return recommend.Amounts{CPU: cpu, Memory: memory << 20}
}

// initial adds an init container.
func initial(name string, sidecar bool, sizes podtest.Amounts) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		c := corev1.Container{Name: name, Resources: sizes.Requirements()}
		if sidecar {
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
}

func aPodSavesWhatItRequestsLess(t *testing.T) {
	half := podtest.Amounts{"500m", "", "512Mi", ""}
	author := resizedFrom(podtest.Amounts{"1", "", "1Gi", ""})
	for _, tc := range []struct {
		name                string
		pod                 *corev1.Pod
		authored, requested recommend.Amounts
		none                bool
	}{
		{"as created", podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.AsCreated), mebibytes(1000, 1024), mebibytes(1000, 1024), false},
		{"smaller", podtest.Pod(half, author), mebibytes(1000, 1024), mebibytes(500, 512), false},
		{"larger", podtest.Pod(podtest.Amounts{"1500m", "", "1536Mi", ""}, author), mebibytes(1000, 1024), mebibytes(1500, 1536), false},
		{"Guaranteed", podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, resizedFrom(podtest.Guaranteed)), mebibytes(1000, 1024), mebibytes(800, 1024), false},
		{"without requests", podtest.Pod(podtest.Amounts{}), recommend.Amounts{}, recommend.Amounts{}, false},
		{"without an original of its memory", podtest.Pod(half, resizedFrom(podtest.Amounts{"1", "", "", ""})), mebibytes(1000, 512), mebibytes(500, 512), false},
		{"without any original", podtest.Pod(half, podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10, "app"))), mebibytes(500, 512), mebibytes(500, 512), false},
		{"a sidecar counts once", podtest.Pod(half, author, initial("proxy", true, podtest.Amounts{"200m", "", "64Mi", ""})), mebibytes(1200, 1088), mebibytes(700, 576), false},
		{"an init container that needs less than the others", podtest.Pod(half, author, initial("setup", false, podtest.Amounts{"400m", "", "64Mi", ""})), mebibytes(1000, 1024), mebibytes(500, 512), false},
		{"an init container that needs more hides what the others save", podtest.Pod(half, author, initial("setup", false, podtest.Amounts{"700m", "", "2Gi", ""})), mebibytes(1000, 2048), mebibytes(700, 2048), false},
		{"an init container runs together with the sidecars before it",
			podtest.Pod(half, author, initial("proxy", true, podtest.Amounts{"200m", "", "", ""}), initial("setup", false, podtest.Amounts{"1100m", "", "", ""})), mebibytes(1300, 1024), mebibytes(1300, 512), false},
		{"overhead", podtest.Pod(half, author, func(p *corev1.Pod) {
			p.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("32Mi")}
		}), mebibytes(1100, 1056), mebibytes(600, 544), false},
		{"a resize that the node has not completed", podtest.Pod(half, author, podtest.WithStatus(podtest.Amounts{"1", "", "1Gi", ""}, podtest.Amounts{"1", "", "1Gi", ""})), mebibytes(1000, 1024), mebibytes(1000, 1024), false},
		{"a pod that is being deleted", podtest.Pod(half, author, func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(podtest.Start)) }), mebibytes(1000, 1024), mebibytes(500, 512), false},
		{"a pod that has finished", podtest.Pod(half, author, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), recommend.Amounts{}, recommend.Amounts{}, true},
		{"a pod that failed", podtest.Pod(half, author, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), recommend.Amounts{}, recommend.Amounts{}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ofWeb("web-1-x", "a")(tc.pod)
			all := saversOf(t, clustertest.Published(), Selection{}, tc.pod)
			if tc.none {
				if len(all) > 0 {
					t.Errorf("%+v", all[0])
				}
				return
			}
			if len(all) != 1 || all[0].Workload != web {
				t.Fatalf("%+v", all)
			}
			s := all[0]
			saved := recommend.Amounts{CPU: tc.authored.CPU - tc.requested.CPU, Memory: tc.authored.Memory - tc.requested.Memory}
			if s.Pods != 1 || s.Authored != tc.authored || s.Requested != tc.requested || s.Saved != saved {
				t.Errorf("authored %v, requested %v, saved %v; want %v, %v, %v", s.Authored, s.Requested, s.Saved, tc.authored, tc.requested, saved)
			}
		})
	}
	for name, on := range map[string]string{"not scheduled yet": "", "on a node that does not exist": "none"} {
		if all := saversOf(t, clustertest.Published(), Selection{}, podtest.Pod(half, ofWeb("web-1-x", on))); len(all) > 0 {
			t.Errorf("a pod %s: %+v", name, all[0])
		}
	}
}

func usageIsInUnitsOfTheNode(t *testing.T) {
	one := podtest.Amounts{"1", "", "1Gi", ""}
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		want recommend.Amounts
	}{
		{"the baseline", podtest.Pod(one, ofWeb("x", "a")), mebibytes(500, 256)},
		{"a faster node", podtest.Pod(one, ofWeb("x", "b")), mebibytes(400, 256)},
		{"two containers", podtest.Pod(one, ofWeb("x", "b"), podtest.WithSecond(one)), mebibytes(800, 512)},
		{"a sidecar, and an init container that has ended", podtest.Pod(one, ofWeb("x", "a"), initial("proxy", true, one), initial("unknown", false, one)), mebibytes(1000, 512)},
		{"a pod without requests", podtest.Pod(podtest.Amounts{}, ofWeb("x", "a")), mebibytes(500, 256)},
	} {
		if s := saversOf(t, clustertest.Published(), Selection{}, tc.pod)[0]; s.Unknown != 0 || s.Used != tc.want || s.Measured != s.Requested {
			t.Errorf("%s: used %v, want %v; measured %v of %v", tc.name, s.Used, tc.want, s.Measured, s.Requested)
		}
	}
}

func whatIsNotKnownIsNeitherUsedNorMeasured(t *testing.T) {
	one := podtest.Amounts{"1", "", "1Gi", ""}
	named := func(name string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Containers[len(p.Spec.Containers)-1].Name = name }
	}
	layer := clustertest.Published()
	delete(layer.Ratios, "n4")
	all := saversOf(t, layer, Selection{},
		podtest.Pod(one, ofWeb("known", "a")), podtest.Pod(one, ofWeb("a node of unknown performance", "b")),
		podtest.Pod(one, ofWeb("a container of unknown usage", "a"), podtest.WithSecond(one), named("unknown")),
		podtest.Pod(one, ofWeb("unknown memory", "a"), named("cpuOnly")))
	if len(all) != 1 || all[0].Pods != 4 || all[0].Unknown != 3 || all[0].Requested != mebibytes(5000, 5*1024) || all[0].Measured != mebibytes(1000, 1024) || all[0].Used != mebibytes(500, 256) {
		t.Errorf("%+v", all[0])
	}
}

func podsAreThrottledOfWhichARunningContainerIs(t *testing.T) {
	one := podtest.Amounts{"1", "", "1Gi", ""}
	named := func(p *corev1.Pod) { p.Spec.Containers[len(p.Spec.Containers)-1].Name = "throttled" }
	all := saversOf(t, clustertest.Published(), Selection{},
		podtest.Pod(one, ofWeb("less often than the target allows", "a")), podtest.Pod(one, ofWeb("its only one", "a"), named), podtest.Pod(one, ofWeb("its second one", "b"), podtest.WithSecond(one), named),
		podtest.Pod(one, ofWeb("a sidecar", "a"), initial("throttled", true, one)), podtest.Pod(one, ofWeb("an init container that has ended", "a"), initial("throttled", false, one)),
		podtest.Pod(one, ofWeb("not scheduled", ""), named), podtest.Pod(one, ofWeb("finished", "a"), named, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }))
	if len(all) != 1 || all[0].Pods != 5 || all[0].Throttled != 3 {
		t.Errorf("%+v", all[0])
	}
}

func sumsAreByWorkload(t *testing.T) {
	one := podtest.Amounts{"1", "", "1Gi", ""}
	bare := podtest.Pod(one, clustertest.Named("shop", "bare", "a"), func(p *corev1.Pod) { p.OwnerReferences = nil })
	pods := []*corev1.Pod{
		bare, podtest.Pod(one, ofWeb("x", "a")), podtest.Pod(one, ofWeb("y", "b")), podtest.Pod(one, clustertest.Named("bank", "db", "b"), func(p *corev1.Pod) { p.OwnerReferences[0].Name = "db" }),
	}
	want := []struct {
		of   usage.Workload
		pods int
	}{{usage.Workload{Namespace: "bank", Kind: "ReplicaSet", Name: "db"}, 1}, {web, 2}, {usage.Workload{Namespace: "shop"}, 1}}
	all := saversOf(t, clustertest.Published(), Selection{}, pods...)
	if len(all) != len(want) {
		t.Fatalf("%d sums", len(all))
	}
	for i, s := range all {
		if s.Workload != want[i].of || s.Pods != want[i].pods {
			t.Errorf("%+v, want %+v", s, want[i])
		}
	}
	for _, tc := range []struct {
		name string
		of   Selection
		want int
	}{
		{"labels", Selection{Selector: labels.SelectorFromSet(labels.Set{"app": "web"})}, 1},
		{"an owner", Selection{Workloads: []usage.Workload{{Kind: "ReplicaSet", Name: "web-1"}}}, 1},
		{"a workload without pods", Selection{Workloads: []usage.Workload{{Kind: "Deployment", Name: "api"}}}, 0},
	} {
		if all := saversOf(t, clustertest.Published(), tc.of, pods...); len(all) != tc.want || tc.want > 0 && all[0].Workload != web {
			t.Errorf("%s: %+v", tc.name, all)
		}
	}
}

func growthCountsAgainstWhatOthersSave(t *testing.T) {
	author := resizedFrom(podtest.Amounts{"1", "", "1Gi", ""})
	all := saversOf(t, clustertest.Published(), Selection{},
		podtest.Pod(podtest.Amounts{"800m", "", "512Mi", ""}, author, ofWeb("x", "a")), podtest.Pod(podtest.Amounts{"1500m", "", "1Gi", ""}, author, ofWeb("y", "a")))
	if s := all[0]; s.Saved != mebibytes(-300, 512) || s.Authored != mebibytes(2000, 2048) || s.Requested != mebibytes(2300, 1536) {
		t.Errorf("%+v", s)
	}
}

func eachNodeTypeHasItsPrice(t *testing.T) {
	layer := clustertest.Published()
	layer.Cluster = keys.Some(policy.Cluster{Prices: &policy.Prices{Currency: "USD", Default: policy.Price{CPU: 0.5, Memory: 0.25}, Types: map[string]policy.Price{"n4": {CPU: 1, Memory: 0.5}}}})
	author := resizedFrom(podtest.Amounts{"2", "", "2Gi", ""})
	half := podtest.Amounts{"1", "", "1Gi", ""}
	s := saversOf(t, layer, Selection{}, podtest.Pod(half, author, ofWeb("x", "a")), podtest.Pod(half, author, ofWeb("y", "b")))[0]
	// Authored: 1 + 0.5 and 2 + 1. Used: half a core and a quarter of a GiB, and 0.4 cores and a quarter.
	if s.AuthoredCost != 4.5 || s.RequestedCost != 2.25 || math.Abs(s.UsedCost-(0.25+0.0625+0.4+0.125)) > 1e-12 {
		t.Errorf("%v, %v, %v", s.AuthoredCost, s.RequestedCost, s.UsedCost)
	}
}

func whatIsSavedStaysRightWhereSumsEnd(t *testing.T) {
	largest := recommend.Amounts{CPU: math.MaxInt64 - 1, Memory: math.MaxInt64 - 1}
	var s Savings
	for range 3 {
		s.Add(&Savings{Authored: largest, Requested: largest, Saved: mebibytes(-100, -1)})
	}
	if most := (recommend.Amounts{CPU: math.MaxInt64, Memory: math.MaxInt64}); s.Authored != most || s.Requested != most || s.Saved != mebibytes(-300, -3) {
		t.Errorf("%+v", s)
	}
	s.Add(&Savings{Saved: recommend.Amounts{CPU: math.MinInt64, Memory: math.MinInt64}})
	if least := (recommend.Amounts{CPU: math.MinInt64, Memory: math.MinInt64}); s.Saved != least {
		t.Errorf("%+v", s.Saved)
	}
	// The sum over its containers has no 64 bits. It fits on no node, but may show for a moment.
	huge := podtest.Amounts{"1", "", "1Ei", ""}
	pod := podtest.Pod(huge, ofWeb("x", "a"))
	for range 7 {
		podtest.WithSecond(huge)(pod)
	}
	if one := saversOf(t, clustertest.Published(), Selection{}, pod)[0]; one.Authored.Memory < 0 || one.Saved != (recommend.Amounts{}) {
		t.Errorf("%+v", one)
	}
}

func savingsEndWithTheErrorOfTheirViewOrContext(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	failed := errors.New("no answer")
	ended := func(ctx context.Context, of Selection) (n int, last error) {
		for _, last = range f.Savings(ctx, of) {
			n++
		}
		return n, last
	}
	if n, err := ended(t.Context(), Selection{}); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := ended(t.Context(), Selection{Visible: func(...string) ([]string, error) { return nil, failed }}); !errors.Is(err, failed) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ended(ctx, Selection{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
