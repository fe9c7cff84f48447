package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

func TestBudgets(t *testing.T) {
	t.Run("select pods in their namespace", selectPodsInTheirNamespace)
	t.Run("allow nothing until their status is known", allowNothingUntilTheirStatusIsKnown)
	t.Run("know their pods as the cache shows them", knowTheirPodsAsTheCacheShowsThem)
	t.Run("find all their pods, no matter when they are asked for", findAllTheirPodsNoMatterWhenTheyAreAskedFor)
	t.Run("forget their pods when they are deleted", forgetTheirPodsWhenTheyAreDeleted)
	t.Run("do not fill the memory", doNotFillTheMemory)
	t.Run("have waiting pods planned again if they may permit more", haveWaitingPodsPlannedAgainIfTheyMayPermitMore)
	t.Run("do not have pods planned again all the time", doNotHavePodsPlannedAgainAllTheTime)
	t.Run("do not limit imagined pods", doNotLimitImaginedPods)
}

// limiting returns a budget for the pods with a label app, which has been observed.
func limiting(namespace, name, app string, allowed int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name), ResourceVersion: "1", Generation: 1},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: allowed},
	}
}

// ofApp sets the labels of a pod.
func ofApp(namespace, name, app string) *corev1.Pod {
	return podtest.Pod(podtest.Guaranteed, podtest.AsCreated, named(namespace, name), func(p *corev1.Pod) { p.Labels = map[string]string{"app": app, "tier": "1"} })
}

// limited returns a cluster with budgets and pods.
func limited(t testing.TB, limits []*policyv1.PodDisruptionBudget, pods ...*corev1.Pod) *Cluster {
	t.Helper()
	c := known(t, pods...)
	for _, o := range limits {
		kept, err := trim(o, nil)
		if err == nil {
			err = c.budgets.Add(kept)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// budgetsOf returns the budgets of a pod.
func budgetsOf(c *Cluster, of *pod.Pod) []workload.Limit {
	return c.Shared(of.Namespace()).limits.Of(of)
}

func namesOf(found []workload.Limit) string {
	var names []string
	for _, b := range found {
		names = append(names, b.Name)
	}
	return strings.Join(names, " ")
}

func podsIn(b workload.Limit) string {
	var names []string
	for _, of := range b.Pods() {
		names = append(names, of.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// The test against the API server compares selectors with evictions.
func selectPodsInTheirNamespace(t *testing.T) {
	invalid, none := limiting("shop", "invalid", "web", 1), limiting("shop", "none", "web", 1)
	invalid.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Contains", Values: []string{"web"}}}}
	none.Spec.Selector = nil
	everything := limiting("shop", "everything", "", 1)
	everything.Spec.Selector = &metav1.LabelSelector{}
	c := limited(t, []*policyv1.PodDisruptionBudget{limiting("shop", "web", "web", 1), limiting("shop", "a", "web", 1), limiting("bank", "web", "web", 1), invalid, none, everything},
		ofApp("shop", "web-1", "web"), ofApp("shop", "web-2", "web"), ofApp("shop", "db", "db"), ofApp("bank", "web-3", "web"), ofApp("home", "web-4", "web"))
	for _, tc := range []struct{ namespace, name, want, pods string }{
		{"shop", "web-1", "a everything web", "web-1 web-2|db web-1 web-2|web-1 web-2"},
		{"shop", "db", "everything", "db web-1 web-2"},
		{"bank", "web-3", "web", "web-3"},
		{"home", "web-4", "", ""},
	} {
		found := budgetsOf(c, c.Pods(tc.namespace).Get(tc.name))
		var pods []string
		for _, b := range found {
			pods = append(pods, podsIn(b))
		}
		if got, of := namesOf(found), strings.Join(pods, "|"); got != tc.want || of != tc.pods {
			t.Errorf("%s/%s: %q with pods %q, want %q with %q", tc.namespace, tc.name, got, of, tc.want, tc.pods)
		}
	}
}

func allowNothingUntilTheirStatusIsKnown(t *testing.T) {
	for name, tc := range map[string]struct {
		generation, observed int64
		allowed              int32
		want                 int
	}{
		"observed":                    {3, 3, 2, 2},
		"of an older spec":            {4, 3, 2, 0},
		"never observed":              {1, 0, 0, 0},
		"never observed but positive": {1, 0, 1, 0},
		"negative":                    {1, 1, -1, 0},
	} {
		limit := limiting("shop", "web", "web", tc.allowed)
		limit.Generation, limit.Status.ObservedGeneration = tc.generation, tc.observed
		c := limited(t, []*policyv1.PodDisruptionBudget{limit}, ofApp("shop", "web-1", "web"))
		if found := budgetsOf(c, c.Pods("shop").Get("web-1")); len(found) != 1 || found[0].Allowed != tc.want {
			t.Errorf("%s: %+v, want %d allowed", name, found, tc.want)
		}
	}
}

// told by the handlers or not, a change to a pod counts as soon as the cache shows it; a change to its
// labels once the handlers know.
func knowTheirPodsAsTheCacheShowsThem(t *testing.T) {
	c := limited(t, []*policyv1.PodDisruptionBudget{limiting("shop", "web", "web", 1)}, ofApp("shop", "web-1", "web"), ofApp("shop", "web-2", "web"), ofApp("shop", "db", "db"))
	// change changes pods as an informer does: first in the cache, and then for its handlers.
	change := func(before, now *corev1.Pod, told bool) {
		t.Helper()
		var old, obj any
		var err error
		if before != nil {
			old, err = pod.From(before), c.podIndex.Delete(pod.From(before))
		}
		if now != nil {
			now.ResourceVersion = "2"
			obj, err = pod.From(now), c.podIndex.Add(pod.From(now))
		}
		if err != nil {
			t.Fatal(err)
		}
		if told {
			c.podChanged(old, obj)
		}
	}
	budget := func() workload.Limit { return budgetsOf(c, c.Pods("shop").Get("web-1"))[0] }
	check := func(step, want string) {
		t.Helper()
		if got := podsIn(budget()); got != want {
			t.Errorf("%s: %q, want %q", step, got, want)
		}
	}
	check("at first", "web-1 web-2")
	resized := ofApp("shop", "web-2", "web")
	change(ofApp("shop", "web-2", "web"), resized, false)
	if i := slices.IndexFunc(budget().Pods(), func(of *pod.Pod) bool { return of.Name == "web-2" && of.ResourceVersion() == "2" }); i < 0 {
		t.Error("the cache shows a change to web-2, and the budget does not")
	}
	change(ofApp("shop", "web-2", "web"), nil, false)
	check("a pod is gone", "web-1")
	change(nil, ofApp("shop", "web-2", "web"), true)
	change(nil, ofApp("shop", "web-3", "web"), true)
	check("a pod is new, and one is back", "web-1 web-2 web-3")
	change(ofApp("shop", "web-3", "web"), ofApp("shop", "web-3", "db"), true)
	change(ofApp("shop", "db", "db"), ofApp("shop", "db", "web"), true)
	check("labels change", "db web-1 web-2")
	change(ofApp("shop", "web-2", "web"), nil, true)
	check("a pod is deleted", "db web-1")

	other := limiting("shop", "web", "web", 0)
	other.Generation, other.Spec.Selector.MatchLabels = 2, map[string]string{"tier": "1"}
	if err := c.budgets.Update(workload.BudgetOf(other)); err != nil {
		t.Fatal(err)
	}
	check("the selector changes", "db web-1 web-3")
}

// findAllTheirPodsNoMatterWhenTheyAreAskedFor changes pods while plans ask for the pods of budgets. Handlers
// hear of changes in order, but later than the cache.
func findAllTheirPodsNoMatterWhenTheyAreAskedFor(t *testing.T) {
	apps := []string{"web", "db", "cache"}
	var limits []*policyv1.PodDisruptionBudget
	for _, app := range apps {
		limits = append(limits, limiting("shop", app, app, 1))
	}
	c := limited(t, limits)
	type change struct{ old, obj any }
	changes := make(chan change, 20)
	var under sync.WaitGroup
	under.Go(func() {
		for told := range changes {
			c.podChanged(told.old, told.obj)
		}
	})
	asking, stop := context.WithCancel(t.Context())
	for range 2 {
		under.Go(func() {
			for asking.Err() == nil {
				for _, limit := range limits {
					c.members.Of(workload.BudgetOf(limit))
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for version := range 3000 {
		name := fmt.Sprint("pod-", random.IntN(50))
		var told change
		if before := c.Pods("shop").Get(name); before != nil {
			told.old = before
		}
		if told.old == nil || random.IntN(3) > 0 {
			now := ofApp("shop", name, apps[random.IntN(len(apps))])
			now.ResourceVersion = fmt.Sprint(version + 2)
			kept := pod.From(now)
			told.obj = kept
			if err := c.podIndex.Update(kept); err != nil {
				t.Fatal(err)
			}
		} else if err := c.podIndex.Delete(told.old); err != nil {
			t.Fatal(err)
		}
		changes <- told
	}
	close(changes)
	stop()
	under.Wait()
	for _, limit := range limits {
		b, want := workload.BudgetOf(limit), []string{}
		selector, err := metav1.LabelSelectorAsSelector(limit.Spec.Selector)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range c.Pods("shop").List() {
			if selector.Matches(of.Labels()) {
				want = append(want, of.Name)
			}
		}
		slices.Sort(want)
		got := podsIn(workload.Limit{Pods: func() []*pod.Pod { return c.members.Of(b) }})
		if got != strings.Join(want, " ") || c.members.Remembered("shop")[limit.UID] != len(want) {
			t.Errorf("%s: %q, want %q", limit.Name, got, want)
		}
	}
}

// doNotFillTheMemory asks for the pods of 50 budgets that select the same 20 pods, of which 10 are created
// later.
func doNotFillTheMemory(t *testing.T) {
	var limits []*policyv1.PodDisruptionBudget
	for n := range 50 {
		limits = append(limits, limiting("shop", fmt.Sprint("web-", n), "web", 1))
	}
	var pods []*corev1.Pod
	for n := range 10 {
		pods = append(pods, ofApp("shop", fmt.Sprint("web-", n), "web"))
	}
	c := limited(t, limits, pods...)
	check := func(want int) {
		t.Helper()
		for _, limit := range limits {
			if found := c.members.Of(workload.BudgetOf(limit)); len(found) != want {
				t.Fatalf("%s: %d pods, want %d", limit.Name, len(found), want)
			}
		}
		if n := len(c.members.Remembered("shop")); n > workload.MostBudgets {
			t.Errorf("%d budgets are remembered", n)
		}
	}
	check(10)
	for n := range 10 {
		late := pod.From(ofApp("shop", fmt.Sprint("late-", n), "web"))
		if err := c.podIndex.Add(late); err != nil {
			t.Fatal(err)
		}
		c.podChanged(nil, late)
	}
	check(20)

	// Budgets that selected no pods are remembered, too.
	few := limited(t, limits)
	for _, limit := range limits {
		few.members.Of(workload.BudgetOf(limit))
	}
	late := pod.From(pods[0])
	if err := few.podIndex.Add(late); err != nil {
		t.Fatal(err)
	}
	few.podChanged(nil, late)
	if n := len(few.members.Remembered("shop")); n > workload.MostBudgets {
		t.Errorf("a pod that came later is remembered for %d budgets", n)
	}
}

func forgetTheirPodsWhenTheyAreDeleted(t *testing.T) {
	c := limited(t, []*policyv1.PodDisruptionBudget{limiting("shop", "web", "web", 1)}, ofApp("shop", "web-1", "web"))
	found := budgetsOf(c, c.Pods("shop").Get("web-1"))
	if got := podsIn(found[0]); got != "web-1" || len(c.members.Remembered("shop")) != 1 {
		t.Fatalf("%q, %v", got, c.members.Remembered("shop"))
	}
	gone := workload.BudgetOf(limiting("shop", "web", "web", 1))
	// An informer that misses a deletion sees a change.
	replaced := limiting("shop", "web", "web", 1)
	replaced.UID = "new"
	if c.budgetChanged(gone, workload.BudgetOf(replaced)); len(c.members.Remembered("shop")) != 0 {
		t.Errorf("remembered for a new budget: %v", c.members.Remembered("shop"))
	}
	if podsIn(found[0]); len(c.members.Remembered("shop")) != 0 {
		t.Error("a plan asks for the pods more than once")
	}
	if err := c.budgets.Delete(gone); err != nil {
		t.Fatal(err)
	}
	c.budgetChanged(gone, nil)
	if len(c.members.Remembered("shop")) != 0 {
		t.Errorf("remembered: %v", c.members.Remembered("shop"))
	}
	// A plan may have begun before.
	if got := c.members.Of(gone); len(got) != 1 || len(c.members.Remembered("shop")) != 0 {
		t.Errorf("%d pods, remembered: %v", len(got), c.members.Remembered("shop"))
	}
}

func haveWaitingPodsPlannedAgainIfTheyMayPermitMore(t *testing.T) {
	state := func(change func(*policyv1.PodDisruptionBudget)) *workload.Budget {
		o := limiting("shop", "web", "web", 1)
		change(o)
		return workload.BudgetOf(o)
	}
	before := state(func(*policyv1.PodDisruptionBudget) {})
	for name, tc := range map[string]struct {
		before, now *workload.Budget
		want        bool
	}{
		"a new budget":                  {nil, before, false},
		"the same again":                {before, state(func(*policyv1.PodDisruptionBudget) {}), false},
		"it allows less":                {before, state(func(o *policyv1.PodDisruptionBudget) { o.Status.DisruptionsAllowed = 0 }), false},
		"it allows more":                {before, state(func(o *policyv1.PodDisruptionBudget) { o.Status.DisruptionsAllowed = 2 }), true},
		"its spec changes":              {before, state(func(o *policyv1.PodDisruptionBudget) { o.Generation = 2 }), false},
		"it selects others":             {before, state(func(o *policyv1.PodDisruptionBudget) { o.Generation, o.Spec.Selector = 2, nil }), true},
		"it is replaced with a new one": {before, state(func(o *policyv1.PodDisruptionBudget) { o.UID, o.Status.DisruptionsAllowed = "new", 0 }), true},
		"it is deleted":                 {before, nil, true},
	} {
		c := known(t)
		var old, obj any
		if tc.before != nil {
			old = tc.before
		}
		if tc.now != nil {
			obj = tc.now
		}
		c.budgetChanged(old, obj)
		if _, got := c.relief.take()["shop"]; got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// reports counts what is reported while the test looks.
type reports struct{ eased atomic.Int32 }

func (r *reports) Changed(types.NamespacedName)     {}
func (r *reports) Eased(string, ...contract.Reason) { r.eased.Add(1) }

func doNotHavePodsPlannedAgainAllTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard, relief := &reports{}, newRelief()
		go relief.run(t.Context(), clock.RealClock{}, heard)
		check := func(step string, want int32) {
			t.Helper()
			synctest.Wait()
			if got := heard.eased.Load(); got != want {
				t.Errorf("%s: %d reports, want %d", step, got, want)
			}
		}
		relief.add("shop")
		check("the first change", 1)
		for range 99 {
			time.Sleep(100 * time.Millisecond)
			relief.add("shop")
			relief.add("bank")
		}
		check("in the pause", 1)
		time.Sleep(200 * time.Millisecond)
		check("after the pause", 3)
		time.Sleep(time.Hour)
		check("without changes", 3)
		relief.add("bank")
		check("after a long time", 4)
	})
}

func doNotLimitImaginedPods(t *testing.T) {
	c := limited(t, []*policyv1.PodDisruptionBudget{limiting("shop", "web", "web", 0)}, ofApp("shop", "web-1", "web"))
	s := c.Snapshot(c.Pods("shop").Get("web-1"), Rules{Table: podtest.Table(t)})
	if got := namesOf(s.Budgets()); got != "web" {
		t.Errorf("%q", got)
	}
	if s.Imagine("n4"); s.Budgets != nil {
		t.Error("an imagined pod has budgets")
	}
}
