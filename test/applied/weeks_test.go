package applied

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

var (
	daysFlag        = flag.Int("days", 3, "number of simulated days")
	eachFlag        = flag.Int("each", 1, "number of pods of each simulated workload on nodes of each type")
	weekliesFlag    = flag.Int("simulated", len(habits), "number of simulated workloads")
	awayFlag        = flag.Int("away", 2, "the simulated day, from 1, on which nothing is reported in one of the worlds; 0 for none")
	undisturbedFlag = flag.Bool("undisturbed", false, "disturb neither of the worlds, to see by how much they differ anyway")
)

var listAll = metav1.ListOptions{}

// length is the time between two reports.
const length = 5 * time.Minute

// TestWeeks runs two equal worlds for weeks. In one of them, the leader is killed every day, and the source of usage is
// away for a day. The sizes of its pods must be those of the other.
func TestWeeks(t *testing.T) {
	t.Parallel()
	worlds := make([]*world, 2)
	for i, name := range []string{"disturbed", "twin"} {
		worlds[i] = newWorld(t, name, weeklyOf(*weekliesFlag), *eachFlag)
	}
	began := time.Now().UTC().Truncate(time.Second)
	both := func(do func(*world)) {
		var running sync.WaitGroup
		for _, w := range worlds {
			running.Go(func() { do(w) })
		}
		running.Wait()
	}
	authored := map[*world]map[seat]string{}
	for _, w := range worlds {
		w.begin(t, began)
		authored[w] = w.scaled(t)
		w.apply(t, weeklyConfig("apply"))
	}
	started := time.Now()
	var days []*difference
	for day := range *daysFlag {
		for step := range int(24 * time.Hour / length) {
			to := began.Add(time.Duration(day)*24*time.Hour + time.Duration(step+1)*length)
			both(func(w *world) {
				disturbed := w == worlds[0] && !*undisturbedFlag
				if disturbed && step == killAt(day) {
					w.KillLeader(t, to)
				}
				w.Move(t, to)
				w.measure(length, disturbed && day+1 == *awayFlag)
				w.report(t)
				w.settle(t)
			})
			if t.Failed() {
				return
			}
		}
		both(func(w *world) { w.judge(t) })
		d := compare(worlds[0], worlds[1])
		days = append(days, d)
		t.Logf("day %d, %v: %v", day+1, time.Since(started).Round(time.Second), d)
	}
	t.Logf("%d pods, %d days in %v, %.0f times as fast as real time", worlds[0].pods(), *daysFlag, time.Since(started).Round(time.Second), float64(*daysFlag)*float64(24*time.Hour)/float64(time.Since(started)))
	for i, d := range days {
		if share := float64(d.equal) / float64(d.amounts); share < 0.95 {
			t.Errorf("the worlds differ: %v", d)
		}
		if i == 0 {
			continue
		}
		// A change may come earlier in one world than in the other. A limit changes with its request alone, so it depends on requests in between.
		for name := range d.requests {
			if days[i-1].requests[name] {
				t.Errorf("%s differs by more than a bucket on days %d and %d", name, i, i+1)
			}
		}
	}
	for _, w := range worlds {
		w.apply(t, weeklyConfig("observe"))
		w.restored(t, authored[w])
		w.whole(t)
		t.Logf("%s: %+v, %d and %d times more memory than the limit, after as much in the seven days before and without, %s", w.name, w.Tally, w.known, w.unknown, w.seen.Tally())
		for _, fault := range w.Tally.Faults {
			t.Error(fault)
		}
	}
}

// killAt returns the step of a day at which the leader is killed: a different one each day.
func killAt(day int) int { return (37 + 101*day) % int(24*time.Hour/length) }

// scaled lets time pass until all pods have what their authors wrote, scaled for their nodes, and returns that.
func (w *world) scaled(t *testing.T) map[seat]string {
	t.Helper()
	w.patiently(t, "the sizes for the nodes", func() error {
		for _, c := range w.seen.All() {
			s := w.seats[c.Pod.UID]
			var wrote corev1.ResourceRequirements
			if err := yaml.Unmarshal([]byte(w.named(s.workload).resources), &wrote); err != nil {
				return err
			}
			want, got := wrote.Requests.Cpu().AsApproximateFloat64()/nodeTypes[s.nodeType], c.Pod.Spec.Containers[0].Resources.Requests.Cpu().AsApproximateFloat64()
			if math.Abs(want-got) > 0.0011 {
				return fmt.Errorf("pod %v has %v, not %v", s, got, want)
			}
		}
		return nil
	})
	w.settle(t)
	return w.sizes(t)
}

// restored lets time pass until all pods have the given sizes.
func (w *world) restored(t *testing.T, want map[seat]string) {
	t.Helper()
	w.patiently(t, "the originals", func() error {
		for s, size := range w.sizes(t) {
			if size != want[s] {
				return fmt.Errorf("pod %v has %s, not %s", s, size, want[s])
			}
		}
		return nil
	})
}

// patiently lets time pass slowly until try returns nil.
func (w *world) patiently(t *testing.T, what string, try func() error) {
	t.Helper()
	localcluster.Eventually(t, w.name+": "+what, func() error {
		err := try()
		if err != nil {
			w.Move(t, w.At.Add(15*time.Second))
		}
		return err
	})
}

// whole checks that no container has restarted, and no pod has another QoS class.
func (w *world) whole(t *testing.T) {
	t.Helper()
	for _, c := range w.seen.All() {
		for i := range c.Pod.Status.ContainerStatuses {
			if s := &c.Pod.Status.ContainerStatuses[i]; s.RestartCount != 0 {
				t.Errorf("%s: container %s of pod %s has restarted", w.name, s.Name, c.Pod.Name)
			}
		}
		if c.Class != c.Pod.Status.QOSClass {
			t.Errorf("%s: pod %s was %s, and is %s", w.name, c.Pod.Name, c.Class, c.Pod.Status.QOSClass)
		}
	}
	if n := len(w.seen.All()); n != w.pods() {
		t.Errorf("%s: %d of %d pods are left", w.name, n, w.pods())
	}
}

// judge checks that each size is within the bounds of its recommendation, or that the server says why it is not.
func (w *world) judge(t *testing.T) {
	t.Helper()
	leader := w.AwaitCollector(t, w.At)
	n := 0
	for plan, err := range leader.PreviewPlans(t.Context(), namespace).All() {
		if err != nil {
			t.Errorf("%s: %v", w.name, err)
			return
		}
		n++
		for _, c := range plan.GetContainers() {
			for name, d := range c.GetDemands() {
				if d.GetSource() != workloadresizerv1.DemandSource_DEMAND_SOURCE_USAGE || d.GetMessage() != "" || len(plan.GetReasons()) > 0 {
					continue
				}
				has, factor := amount(c.GetCurrent().GetRequests()[name]), plan.GetCpuFactor()
				if name == "memory" {
					factor = plan.GetMemoryFactor()
				}
				if lower, upper := amount(d.GetLower())*factor, amount(d.GetUpper())*factor; has < 0.99*lower || has > 1.01*upper && upper > 0 {
					w.Fault("pod %v: container %s has %v of %s, outside of %v to %v: %v", w.seats[uid(plan.GetUid())], c.GetName(), has, name, lower, upper, plan)
				}
			}
		}
	}
	if n != w.pods() {
		w.Fault("%d plans", n)
	}
}

// difference is by how much two worlds differ.
type difference struct {
	// amounts are the requests and limits that were compared, equal are those that were equal, and beyond are those that
	// differed by more than a bucket, of which requests are the requests.
	amounts, equal, beyond int
	requests               map[string]bool
	// most is the largest difference, as a share.
	most  float64
	where []string
}

func (d *difference) String() string {
	return fmt.Sprintf("%d of %d amounts equal (%.1f%%), %d differ by more than a bucket, the largest difference is %.2f%% %q", d.equal, d.amounts, 100*float64(d.equal)/float64(d.amounts), d.beyond, 100*d.most, d.where)
}

// compare compares the sizes of equal pods.
func compare(a, b *world) *difference {
	d := &difference{requests: map[string]bool{}}
	sizes := func(w *world) map[string]float64 {
		all := map[string]float64{}
		for _, c := range w.seen.All() {
			for i := range c.Pod.Spec.Containers {
				of := &c.Pod.Spec.Containers[i]
				for kind, list := range map[string]corev1.ResourceList{"request": of.Resources.Requests, "limit": of.Resources.Limits} {
					for name, q := range list {
						all[fmt.Sprintf("%v %s %s %s", w.seats[c.Pod.UID], of.Name, name, kind)] = q.AsApproximateFloat64()
					}
				}
			}
		}
		return all
	}
	of, twin := sizes(a), sizes(b)
	for _, name := range slices.Sorted(maps.Keys(twin)) {
		has, want := of[name], twin[name]
		d.amounts++
		if has == want {
			d.equal++
			continue
		}
		share := math.Abs(has-want) / cmp.Or(want, 1)
		d.most = max(d.most, share)
		if share > bucket {
			d.beyond++
			if strings.HasSuffix(name, " request") {
				d.requests[name] = true
			}
		}
		if len(d.where) < 8 {
			d.where = append(d.where, fmt.Sprintf("%s: %.4g, not %.4g", strings.TrimSpace(name), has, want))
		}
	}
	return d
}

// bucket is how far a size may be from that of the twin.
const bucket = 0.0501

// weeklyConfig returns a configuration with a mode, and the defaults.
func weeklyConfig(mode string) string {
	types := ""
	for _, name := range slices.Sorted(maps.Keys(nodeTypes)) {
		types += fmt.Sprintf("\n      %s: {cpuPerf: %v, memPerf: 1}", name, nodeTypes[name])
	}
	return fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-config, namespace: workload-resizer-system}
data:
  config.yaml: |
    baselineNodeType: n2d
    nodeTypes:%s
    demand: {from: usage, mode: %s}
---
apiVersion: v1
kind: Namespace
metadata: {name: %s}
`, types, mode, namespace)
}
