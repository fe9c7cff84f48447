package workload

import (
	"cmp"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Budget is a PodDisruptionBudget, as far as plans need it. It is immutable.
type Budget struct {
	namespace, name, resourceVersion string
	uid                              types.UID
	// generation changes with the selector.
	generation int64
	selector   labels.Selector
	// Allowed is how many of the selected pods may be disrupted.
	Allowed int
}

// BudgetOf reads a budget. As for evictions, a budget without a selector, or with an
// invalid one, selects no pods, and a status that is older than the spec allows nothing.
func BudgetOf(o *policyv1.PodDisruptionBudget) *Budget {
	b := &Budget{
		namespace: o.Namespace, name: o.Name, resourceVersion: o.ResourceVersion, uid: o.UID, generation: o.Generation,
	}
	var err error
	if b.selector, err = metav1.LabelSelectorAsSelector(o.Spec.Selector); err != nil {
		b.selector = labels.Nothing()
	}
	if o.Status.ObservedGeneration >= o.Generation {
		b.Allowed = max(0, int(o.Status.DisruptionsAllowed))
	}
	return b
}

// GetObjectMeta implements metav1.ObjectMetaAccessor, which caches use to identify objects.
func (b *Budget) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: b.namespace, Name: b.name, UID: b.uid, ResourceVersion: b.resourceVersion}
}

// UID returns the UID of the budget.
func (b *Budget) UID() types.UID { return b.uid }

// Namespace returns the namespace of the budget.
func (b *Budget) Namespace() string { return b.namespace }

// selectsAs reports whether both states of a budget select the same pods.
func (b *Budget) selectsAs(other *Budget) bool {
	return b.uid == other.uid && (b.generation == other.generation || b.selector.String() == other.selector.String())
}

// Limit is a budget that selects a pod.
type Limit struct {
	// Name is the name of the budget, and Allowed is how many of its pods may be disrupted now. It is 0 until the
	// disruption controller has seen the last change to its spec.
	Name    string
	Allowed int
	// Pods returns all pods that it selects, in any order, as new as the pod itself. It takes time for each
	// of them, and more the first time. The caller must not change the slice.
	Pods func() []*pod.Pod
}

// MostBudgets is how many PodDisruptionBudgets may select a pod that gets a smaller size. Kubernetes evicts no
// pod with more than one. Without a limit, users who may create budgets could make each plan take seconds.
const MostBudgets = 10

// Limits remembers the budgets of a namespace, and the pods that they select, for the plans of many of its pods.
type Limits struct {
	Members *Members

	read bool
	all  []*Budget
	pods map[*Budget][]*pod.Pod
}

// Of returns the budgets that select a pod, by name.
func (l *Limits) Of(p *pod.Pod) []Limit {
	if !l.read {
		l.read, l.all = true, l.Members.budgets(p.Namespace())
	}
	if len(l.all) == 0 {
		return nil
	}
	var found []Limit
	has := labelsOf(p)
	for _, b := range l.all {
		if b.selector.Matches(has) {
			found = append(found, Limit{Name: b.name, Allowed: b.Allowed, Pods: func() []*pod.Pod { return l.selected(b) }})
		}
	}
	// Plans of the same pod must be equal.
	slices.SortFunc(found, func(a, b Limit) int { return cmp.Compare(a.Name, b.Name) })
	return found
}

// selected returns the pods of a budget.
func (l *Limits) selected(b *Budget) []*pod.Pod {
	pods, known := l.pods[b]
	if !known {
		if l.pods == nil {
			l.pods = map[*Budget][]*pod.Pod{}
		}
		pods = l.Members.Of(b)
		l.pods[b] = pods
	}
	return pods
}

// label is a label of a pod.
type label struct{ key, value string }

// decoded are the labels of a pod. Many selectors are compared with them faster than with pod.Texts, which
// have to be decoded each time.
type decoded []label

func labelsOf(of *pod.Pod) labels.Labels {
	var all decoded
	for key, value := range of.Labels().All() {
		all = append(all, label{key, value})
	}
	return all
}

// Lookup implements labels.Labels.
func (d decoded) Lookup(key string) (value string, ok bool) {
	for i := range d {
		if d[i].key == key {
			return d[i].value, true
		}
	}
	return "", false
}

// Has implements labels.Labels.
func (d decoded) Has(key string) bool {
	_, ok := d.Lookup(key)
	return ok
}

// Get implements labels.Labels.
func (d decoded) Get(key string) string {
	value, _ := d.Lookup(key)
	return value
}
