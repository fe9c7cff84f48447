package cluster

import (
	"cmp"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// budget is a PodDisruptionBudget as caches hold it. It is immutable.
type budget struct {
	namespace, name, resourceVersion string
	uid                              types.UID
	// generation changes with the selector.
	generation int64
	selector   labels.Selector
	// allowed is how many of the selected pods may be disrupted.
	allowed int
}

// budgetOf keeps what plans need. As for evictions, a budget without a selector, or with an
// invalid one, selects no pods, and a status that is older than the spec allows nothing.
func budgetOf(o *policyv1.PodDisruptionBudget) *budget {
	b := &budget{
		namespace: o.Namespace, name: o.Name, resourceVersion: o.ResourceVersion, uid: o.UID, generation: o.Generation,
	}
	var err error
	if b.selector, err = metav1.LabelSelectorAsSelector(o.Spec.Selector); err != nil {
		b.selector = labels.Nothing()
	}
	if o.Status.ObservedGeneration >= o.Generation {
		b.allowed = max(0, int(o.Status.DisruptionsAllowed))
	}
	return b
}

// GetObjectMeta implements metav1.ObjectMetaAccessor, which caches use to identify objects.
func (b *budget) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: b.namespace, Name: b.name, UID: b.uid, ResourceVersion: b.resourceVersion}
}

// selectsAs reports whether both states of a budget select the same pods.
func (b *budget) selectsAs(other *budget) bool {
	return b.uid == other.uid && (b.generation == other.generation || b.selector.String() == other.selector.String())
}

// budgets remembers the budgets of a namespace, and the pods that they select, for the plans of many of its
// pods.
type budgets struct {
	read bool
	all  []*budget
	pods map[*budget][]*pod.Pod
}

// of returns the budgets that select a pod, by name.
func (b *budgets) of(c *Cluster, of *pod.Pod) []plan.Budget {
	if !b.read {
		b.read, b.all = true, c.budgetsIn(of.Namespace())
	}
	if len(b.all) == 0 {
		return nil
	}
	var found []plan.Budget
	has := labelsOf(of)
	for _, some := range b.all {
		if some.selector.Matches(has) {
			found = append(found, plan.Budget{Name: some.name, Allowed: some.allowed, Pods: func() []*pod.Pod { return b.selected(c, some) }})
		}
	}
	// Plans of the same pod must be equal.
	slices.SortFunc(found, func(a, b plan.Budget) int { return cmp.Compare(a.Name, b.Name) })
	return found
}

// selected returns the pods of a budget.
func (b *budgets) selected(c *Cluster, of *budget) []*pod.Pod {
	pods, known := b.pods[of]
	if !known {
		if b.pods == nil {
			b.pods = map[*budget][]*pod.Pod{}
		}
		pods = c.membersOf(of)
		b.pods[of] = pods
	}
	return pods
}

// budgetsIn returns the budgets of a namespace, in any order.
func (c *Cluster) budgetsIn(namespace string) []*budget {
	found := byIndex(c.budgets, cache.NamespaceIndex, namespace)
	all := make([]*budget, len(found))
	for i, obj := range found {
		all[i] = obj.(*budget)
	}
	return all
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
