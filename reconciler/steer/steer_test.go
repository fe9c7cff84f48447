package steer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/usage"
)

// world is a cluster, and what a Steer may know of it. Tests that the API server decides are in deploy and test/e2e.
type world struct {
	corev1client.NodeInterface
	clock  *testingclock.FakeClock
	nodes  []*corev1.Node // As stored.
	seen   []*corev1.Node // As the watch has delivered them.
	lags   bool
	table  ratios.Table
	frozen bool
	leads  bool
	broken error // Of the source.
	refuse error // Of writes.
	// refuses has the nodes whose writes are refused.
	refuses map[string]bool
	cpu     map[string]float64
	writes  []string
	events  []string
	log     *ktesting.BufferTL
	*Steer
}

func (w *world) Filled() <-chan struct{}                 { return nil }
func (w *world) Nodes() []*corev1.Node                   { return w.seen }
func (w *world) Name() string                            { return "metrics" }
func (w *world) Ready() (*hold.Table, error)             { return hold.NewTable(nil), nil }
func (w *world) FrozenNow(context.Context) (bool, error) { return w.frozen, nil }

func (w *world) ReadNodes(context.Context) (all []usage.NodeUsage, err error) {
	for name, cpu := range w.cpu {
		all = append(all, usage.NodeUsage{Node: name, At: w.clock.Now(), CPU: usage.ValueOf(cpu * 8000), Memory: usage.ValueOf(1 << 30)})
	}
	if w.broken != nil {
		return nil, w.broken
	}
	return all, nil
}

// Patch applies a patch of taints as the API server does.
func (w *world) Patch(_ context.Context, name string, _ types.PatchType, patch []byte, options metav1.PatchOptions, _ ...string) (*corev1.Node, error) {
	if w.refuse != nil {
		return nil, w.refuse
	}
	if w.refuses[name] {
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, name, errors.New("no right"))
	}
	var operations []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if err := json.Unmarshal(patch, &operations); err != nil || options.FieldManager != contract.FieldManager {
		return nil, errors.Join(err, errors.New("a bad patch"))
	}
	i := slices.IndexFunc(w.nodes, func(n *corev1.Node) bool { return n.Name == name })
	after := w.nodes[i].DeepCopy()
	for _, o := range operations {
		var taints []corev1.Taint
		switch {
		case o.Path == "/metadata/uid" && strconv.Quote(string(after.UID)) == string(o.Value):
		case json.Unmarshal(o.Value, &taints) != nil:
			return nil, errors.New("a bad value")
		case o.Op == "test" && !reflect.DeepEqual(taints, after.Spec.Taints):
			return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Node"}, name, nil)
		case o.Op != "test":
			after.Spec.Taints = taints
		}
	}
	version, _ := strconv.Atoi(after.ResourceVersion)
	after.ResourceVersion = strconv.Itoa(version + 1)
	w.nodes[i] = after
	if !w.lags {
		w.seen = slices.Clone(w.nodes)
	}
	w.writes = append(w.writes, name)
	return after, nil
}

// configured is a configuration.
type configured struct{ table *ratios.Table }

func (c configured) Table() *ratios.Table { return c.table }
func (configured) Watch() <-chan struct{} { return nil }

// newWorld returns a world with nodes n0, n1 and so on. Each has 8 cores.
func newWorld(nodes int) *world {
	w := &world{clock: testingclock.NewFakeClock(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)), leads: true, cpu: map[string]float64{}}
	w.table.Overload = keys.Defaults[policy.Cluster]().Overload
	w.table.Overload.Enabled = true
	for i := range nodes {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), UID: types.UID(fmt.Sprint("u", i)), ResourceVersion: "1"}}
		n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("32Gi")}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		w.nodes = append(w.nodes, n)
		w.cpu[n.Name] = 0.1
	}
	w.seen = slices.Clone(w.nodes)
	w.restart()
	return w
}

// restart replaces the process with a new one.
func (w *world) restart() {
	w.log = &ktesting.BufferTL{}
	w.Steer = New(Config{
		Client: w, Sources: []usage.NodeSource{w}, Cluster: w, Ratios: configured{&w.table}, Holds: w, Leads: func() bool { return w.leads }, Metrics: prometheus.NewRegistry(), Clock: w.clock,
		Say: func(on *corev1.Node, reason, message string) {
			w.events = append(w.events, on.Name+" "+reason+": "+message)
		},
	})
}

// during decides every half minute for some time.
func (w *world) during(t *testing.T, long time.Duration) {
	ctx := klog.NewContext(t.Context(), ktesting.NewLogger(w.log, ktesting.NewConfig()))
	for end := w.clock.Now().Add(long); w.clock.Now().Before(end); {
		w.clock.Step(interval)
		w.round(ctx)
	}
}

// expect checks the taints of nodes, such as "n0=workload-resizer.io/overloaded:PreferNoSchedule".
func (w *world) expect(t *testing.T, when string, want ...string) {
	t.Helper()
	var got []string
	for _, n := range w.nodes {
		for _, taint := range n.Spec.Taints {
			got = append(got, n.Name+"="+taint.Key+":"+string(taint.Effect))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: the taints are %q, want %q", when, got, want)
	}
}

const tainted0 = "n0=workload-resizer.io/overloaded:PreferNoSchedule"

func TestSteer(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"taints an overloaded node, and clears it":      taintsAndClears,
		"a freeze lets it clear only":                   aFreezeLetsItClearOnly,
		"clears all taints while it is off":             clearsAllTaintsWhileItIsOff,
		"only the leader writes":                        onlyTheLeaderWrites,
		"a watch that lags never makes it too many":     aWatchThatLagsNeverMakesItTooMany,
		"does not taint while it cannot clear":          doesNotTaintWhileItCannotClear,
		"a taint that stays keeps no others off":        aTaintThatStaysKeepsNoOthersOff,
		"follows a new key and effect":                  followsANewKeyAndEffect,
		"says for how long a node has had the taint":    saysForHowLong,
		"a source that fails says nothing":              aSourceThatFailsSaysNothing,
		"leaves the taints of others":                   leavesTheTaintsOfOthers,
		"without a configuration, nothing changes":      withoutAConfigurationNothingChanges,
		"never writes a node that has changed":          neverWritesANodeThatHasChanged,
		"pressure counts only with tasks for all vCPUs": pressureCountsOnlyWithTasks,
		"nodes that do not work":                        nodesThatDoNotWork,
		"a dry run says what it would do, once":         aDryRunSaysWhatItWouldDo,
	} {
		t.Run(name, test)
	}
}

func taintsAndClears(t *testing.T) {
	w := newWorld(3)
	w.cpu["n0"] = 0.97
	w.during(t, 6*time.Minute)
	w.expect(t, "overloaded", tainted0)
	if got := testutil.ToFloat64(w.Steer.writes.WithLabelValues("taint", "written")); got != 1 || Tainted(w.Nodes()) != 1 {
		t.Errorf("%v writes, %d nodes counted", got, Tainted(w.Nodes()))
	}
	w.cpu["n0"] = 0.5
	w.during(t, 6*time.Minute)
	w.expect(t, "low again")
	want := []string{
		"n0 NodeOverloaded: New pods start elsewhere if they can (taint workload-resizer.io/overloaded:PreferNoSchedule): its usage of cpu has been at least 90% of allocatable for 5m, and is 97% now",
		"n0 NodeRelieved: The taint for overloaded nodes was removed: all measured values have been low for 5m",
	}
	if diff := cmp.Diff(want, w.events); diff != "" {
		t.Error(diff)
	}
}

func aFreezeLetsItClearOnly(t *testing.T) {
	w := newWorld(3)
	w.cpu["n0"], w.frozen = 0.97, true
	w.during(t, 20*time.Minute)
	w.expect(t, "frozen")
	w.frozen = false
	w.during(t, time.Minute)
	w.expect(t, "no longer", tainted0)
	w.cpu["n0"], w.frozen = 0.1, true
	w.during(t, 6*time.Minute)
	w.expect(t, "frozen again")
}

func clearsAllTaintsWhileItIsOff(t *testing.T) {
	w := newWorld(3)
	w.table.Overload.Enabled = false
	w.broken = errors.New("not to be read")
	w.nodes[0].Spec.Taints = []corev1.Taint{
		{Key: "dedicated", Value: "infra", Effect: corev1.TaintEffectNoSchedule},
		{Key: "example.com/former", Value: contract.OverloadMark, Effect: corev1.TaintEffectNoSchedule},
		{Key: policy.DefaultOverloadTaint, Value: contract.OverloadMark, Effect: corev1.TaintEffectPreferNoSchedule},
	}
	w.nodes[1].Spec.Taints = []corev1.Taint{{Key: policy.DefaultOverloadTaint, Value: "by-hand", Effect: corev1.TaintEffectPreferNoSchedule}}
	w.during(t, time.Minute)
	w.expect(t, "off", "n0=dedicated:NoSchedule", "n1=workload-resizer.io/overloaded:PreferNoSchedule")
	if len(w.writes) != 1 || strings.Contains(w.log.String(), "not to be read") {
		t.Errorf("wrote %q, and logged %s", w.writes, w.log)
	}
}

func onlyTheLeaderWrites(t *testing.T) {
	w := newWorld(3)
	w.cpu["n0"] = 0.97
	w.leads = false
	w.during(t, 10*time.Minute)
	w.expect(t, "not the leader")
	w.leads = true
	w.during(t, 3*time.Minute)
	w.expect(t, "the leader, not for long")
	w.during(t, 3*time.Minute)
	w.expect(t, "the leader", tainted0)
	w.restart()
	w.during(t, 20*time.Minute)
	w.expect(t, "another one", tainted0)
	w.restart()
	w.cpu["n0"] = 0.1
	w.during(t, 6*time.Minute)
	w.expect(t, "a third one, when it is low")
	if len(w.writes) != 2 {
		t.Errorf("wrote %q", w.writes)
	}
}

// Another leader knows how long a node has had the taint, too, even if its key has changed.
func saysForHowLong(t *testing.T) {
	w := newWorld(3)
	if got := w.longest(); got != 0 {
		t.Errorf("without a taint: %v", got)
	}
	w.cpu["n0"] = 0.97
	for len(w.writes) == 0 {
		w.during(t, interval)
	}
	w.restart()
	w.table.Overload.Taint = "example.com/busy"
	w.during(t, time.Hour)
	if got := w.longest(); got != time.Hour {
		t.Errorf("it has had the taint for %v", got)
	}
	const want = "n0 is overloaded, and has the taint example.com/busy:PreferNoSchedule since 2026-03-01T10:0"
	if got := w.Explain(w.nodes[0]); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "Z, so new pods start elsewhere if they can") || w.Explain(w.nodes[1]) != "" {
		t.Errorf("said %q, and of another node %q", got, w.Explain(w.nodes[1]))
	}
}

func aWatchThatLagsNeverMakesItTooMany(t *testing.T) {
	w := newWorld(5)
	w.lags = true
	w.cpu["n0"], w.cpu["n1"] = 0.97, 0.96
	w.during(t, 10*time.Minute)
	w.expect(t, "before the watch has it", tainted0)
	w.seen = slices.Clone(w.nodes)
	w.during(t, 10*time.Minute)
	w.expect(t, "after that", tainted0)
	if len(w.writes) != 1 || len(w.written) != 0 || testutil.ToFloat64(w.spared) != 1 {
		t.Errorf("wrote %q, remembers %v", w.writes, w.written)
	}
}

func doesNotTaintWhileItCannotClear(t *testing.T) {
	w := newWorld(5)
	w.cpu["n0"] = 0.97
	w.during(t, 6*time.Minute)
	w.cpu["n0"], w.cpu["n1"] = 0.1, 0.97
	w.refuse = apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n0", errors.New("no right"))
	w.during(t, 10*time.Minute)
	w.expect(t, "refused", tainted0)
	if got := strings.Count(w.log.String(), "Taint for overloaded nodes not written; trying again"); got != 1 {
		t.Errorf("logged %d times:\n%s", got, w.log)
	}
	w.refuse = nil
	w.during(t, time.Minute)
	w.expect(t, "no longer refused", "n1=workload-resizer.io/overloaded:PreferNoSchedule")
}

// aTaintThatStaysKeepsNoOthersOff: a node may have registered itself with a taint that looks like one of the server, which the
// policy does not let it remove.
func aTaintThatStaysKeepsNoOthersOff(t *testing.T) {
	for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule} {
		w := newWorld(10)
		w.nodes[0].Spec.Taints = []corev1.Taint{{Key: "example.com/mine", Value: contract.OverloadMark, Effect: effect}}
		w.seen = slices.Clone(w.nodes)
		w.refuses = map[string]bool{"n0": true}
		w.cpu["n1"], w.cpu["n2"] = 0.97, 0.98
		w.during(t, 10*time.Minute)
		want := []string{"n0=example.com/mine:" + string(effect), "n1=workload-resizer.io/overloaded:PreferNoSchedule", "n2=workload-resizer.io/overloaded:PreferNoSchedule"}
		if effect == corev1.TaintEffectNoSchedule { // It may be one of the server, and takes a place of two.
			want = slices.Delete(want, 1, 2)
		}
		w.expect(t, string(effect), want...)
	}
}

func followsANewKeyAndEffect(t *testing.T) {
	w := newWorld(3)
	w.cpu["n0"] = 0.97
	w.during(t, 6*time.Minute)
	w.table.Overload.Taint, w.table.Overload.Effect = "example.com/busy", "NoSchedule"
	w.during(t, time.Minute)
	w.expect(t, "a new key", "n0=example.com/busy:NoSchedule")
	if len(w.writes) != 2 {
		t.Errorf("wrote %q", w.writes)
	}
}

func aSourceThatFailsSaysNothing(t *testing.T) {
	w := newWorld(3)
	w.cpu["n0"] = 0.97
	w.broken = errors.New("away")
	w.during(t, 20*time.Minute)
	w.expect(t, "never measured")
	if got := strings.Count(w.log.String(), "away"); got != 1 {
		t.Errorf("logged %d times:\n%s", got, w.log)
	}
	w.broken = nil
	w.during(t, 6*time.Minute)
	w.broken = errors.New("away again")
	w.during(t, 12*time.Minute)
	w.expect(t, "not measured for 12 minutes", tainted0)
	w.during(t, 2*time.Minute)
	w.expect(t, "not measured for longer")
	if last := w.events[len(w.events)-1]; !strings.HasSuffix(last, "its usage has not been known for 10m") {
		t.Error(last)
	}
}

func leavesTheTaintsOfOthers(t *testing.T) {
	w := newWorld(3)
	w.nodes[0].Spec.Taints = []corev1.Taint{{Key: policy.DefaultOverloadTaint, Value: "by-hand", Effect: corev1.TaintEffectPreferNoSchedule}}
	w.nodes[1].Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
	w.cpu["n0"], w.cpu["n1"] = 0.99, 0.97
	w.during(t, 6*time.Minute)
	w.expect(t, "two nodes with taints", tainted0, "n1=dedicated:NoSchedule", "n1=workload-resizer.io/overloaded:PreferNoSchedule")
	w.cpu["n1"] = 0.1
	w.during(t, 6*time.Minute)
	w.expect(t, "low again", tainted0, "n1=dedicated:NoSchedule")
}

func withoutAConfigurationNothingChanges(t *testing.T) {
	w := newWorld(1)
	w.nodes[0].Spec.Taints = []corev1.Taint{{Key: policy.DefaultOverloadTaint, Value: contract.OverloadMark, Effect: corev1.TaintEffectPreferNoSchedule}}
	w.Ratios = configured{}
	w.during(t, time.Hour)
	w.expect(t, "without a configuration", tainted0)
}

func neverWritesANodeThatHasChanged(t *testing.T) {
	w := newWorld(3)
	w.cpu["n0"] = 0.97
	w.nodes[0] = w.nodes[0].DeepCopy() // The watch does not have it yet.
	w.nodes[0].Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
	w.during(t, 6*time.Minute)
	w.expect(t, "before the watch has the change", "n0=dedicated:NoSchedule")
	if strings.Contains(w.log.String(), "not written") {
		t.Error(w.log)
	}
	w.seen = slices.Clone(w.nodes)
	w.during(t, time.Minute)
	w.expect(t, "after that", "n0=dedicated:NoSchedule", tainted0)
}

func pressureCountsOnlyWithTasks(t *testing.T) {
	for _, tc := range []struct{ load, pressure, want usage.Value }{
		{usage.ValueOf(1), usage.ValueOf(0.75), usage.ValueOf(0.75)},
		{usage.ValueOf(0.5), usage.ValueOf(0.75), usage.ValueOf(0)},
		{usage.ValueOf(0.5), usage.Value{}, usage.Value{}},
		{usage.Value{}, usage.ValueOf(0.75), usage.Value{}},
	} {
		if got := contended(&usage.NodeUsage{Load: tc.load, Pressure: tc.pressure}); got != tc.want {
			t.Errorf("%+v, want %+v", got, tc)
		}
	}
}

func nodesThatDoNotWork(t *testing.T) {
	now := metav1.Now()
	for name, change := range map[string]func(*corev1.Node){
		"cordoned":         func(n *corev1.Node) { n.Spec.Unschedulable = true },
		"being deleted":    func(n *corev1.Node) { n.DeletionTimestamp = &now },
		"not ready":        func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown },
		"without a state":  func(n *corev1.Node) { n.Status.Conditions = nil },
		"without cpu":      func(n *corev1.Node) { n.Status.Allocatable["cpu"] = resource.MustParse("0") },
		"without memory":   func(n *corev1.Node) { delete(n.Status.Allocatable, "memory") },
		"with less than 0": func(n *corev1.Node) { n.Status.Allocatable["cpu"] = resource.MustParse("-1") },
	} {
		w := newWorld(2)
		change(w.nodes[0])
		w.cpu["n0"] = 5
		w.during(t, time.Hour)
		w.expect(t, name)
	}
}

func aDryRunSaysWhatItWouldDo(t *testing.T) {
	w := newWorld(10)
	w.DryRun = true
	w.nodes[1].Spec.Taints = []corev1.Taint{{Key: policy.DefaultOverloadTaint, Value: contract.OverloadMark, Effect: corev1.TaintEffectPreferNoSchedule}}
	w.cpu["n0"] = 0.97
	w.during(t, 12*time.Minute)
	w.expect(t, "a dry run", "n1=workload-resizer.io/overloaded:PreferNoSchedule")
	if len(w.writes)+len(w.events) > 0 || testutil.ToFloat64(w.Steer.writes.WithLabelValues("taint", "written")) != 0 {
		t.Errorf("wrote %q, and said %q", w.writes, w.events)
	}
	for _, want := range []string{
		"New pods start elsewhere if they can (taint workload-resizer.io/overloaded:PreferNoSchedule): its usage of cpu has been at least 90% of allocatable for 5m, and is 97% now",
		"The taint for overloaded nodes was removed: all measured values have been low for 5m",
	} {
		if got := strings.Count(w.log.String(), want); got != 1 {
			t.Errorf("%q is %d times in the log:\n%s", want, got, w.log)
		}
	}
	has, has1 := w.Explain(w.nodes[0]), w.Explain(w.nodes[1])
	if !strings.HasPrefix(has, "n0 is overloaded, and would have the taint workload-resizer.io/overloaded:PreferNoSchedule since 2026-03-01T10:0") || !strings.HasSuffix(has, "Z, but the server runs with --dry-run") ||
		has1 != "n1 is no longer overloaded, and would lose the taint workload-resizer.io/overloaded:PreferNoSchedule, but the server runs with --dry-run" || w.Explain(w.nodes[2]) != "" {
		t.Errorf("said %q, and of n1 %q", has, has1)
	}
	if got := w.Overloaded(w.Nodes()); got != 2 {
		t.Errorf("%d nodes have the taint, or would have it", got)
	}
	// Taints of others change, and the node is replaced by another one of its name.
	w.nodes[0].Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
	if got := w.nodes[0]; len(w.wouldBe(got).Spec.Taints) != 2 {
		t.Errorf("%+v", w.wouldBe(got).Spec.Taints)
	}
	w.cpu["n0"] = 0.1
	w.during(t, 6*time.Minute)
	if got := w.Explain(w.nodes[0]); got != "" || w.Overloaded(w.Nodes()) != 1 {
		t.Errorf("low again: %q", got)
	}
	w.cpu["n0"] = 0.97
	w.during(t, 6*time.Minute)
	w.nodes[0].UID = "another"
	if got := w.Explain(w.nodes[0]); got != "" {
		t.Errorf("another node of this name: %q", got)
	}
}

func TestWithoutASteer(t *testing.T) {
	w, none := newWorld(1), (*Steer)(nil)
	w.nodes[0].Spec.Taints = []corev1.Taint{{Key: policy.DefaultOverloadTaint, Value: contract.OverloadMark, Effect: corev1.TaintEffectPreferNoSchedule}}
	if got := none.Explain(w.nodes[0]); !strings.HasPrefix(got, "n0 is overloaded, and has the taint") || none.Overloaded(w.nodes) != 1 {
		t.Errorf("%q, %d nodes", got, none.Overloaded(w.nodes))
	}
}
