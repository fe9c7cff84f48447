package chaos

import (
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// demandObserver sees every state of every pod whose sizes follow usage. It knows which requests follow from what
// containers used at any time with any rule until then.
type demandObserver struct {
	world *world

	mu    sync.Mutex
	known map[types.UID]*corev1.Pod
	// left are the pods whose sizes another actor has set.
	left map[types.UID]bool
	// shares are those that each container has used. rules are those that were in effect.
	shares map[string]map[int64]bool
	rules  []rule
	wrong  []string
	// bySource is how many states had a request that the original does not lead to.
	bySource int
}

func (w *world) observeDemands(t *testing.T) *demandObserver {
	t.Helper()
	o := &demandObserver{world: w, known: map[types.UID]*corev1.Pod{}, left: map[types.UID]bool{}, shares: map[string]map[int64]bool{}}
	for _, created := range w.created {
		o.known[created.UID] = created
	}
	o.allow()
	if _, err := w.seen.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    o.see,
		UpdateFunc: func(_, obj any) { o.see(obj) },
	}); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *demandObserver) know(created *corev1.Pod) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known[created.UID] = created
}

// leave notes that another actor is about to set the sizes of a pod.
func (o *demandObserver) leave(pod types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.left[pod] = true
}

// leftPods returns the pods that exist whose sizes another actor has set.
func (o *demandObserver) leftPods() (all []types.NamespacedName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, key := range o.world.keys() {
		if o.left[o.world.created[key].UID] {
			all = append(all, key)
		}
	}
	return all
}

// allow allows what follows from what containers use now, with the rule in effect. Call it whenever either changes, while
// no process runs.
func (o *demandObserver) allow() {
	o.world.mu.Lock()
	now := o.world.rule()
	o.world.mu.Unlock()
	o.world.source.mu.Lock()
	defer o.world.source.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rules = append(o.rules, now)
	for name, share := range o.world.source.uses {
		if o.shares[name] == nil {
			o.shares[name] = map[int64]bool{}
		}
		o.shares[name][share] = true
	}
}

// desired returns the requests that a container may have that follows what it uses now, on any of the nodes.
func (o *demandObserver) desired(created pair, now *rule, node string) (all []oracle.Range) {
	o.world.source.mu.Lock()
	share := o.world.source.uses[created.container.Name]
	o.world.source.mu.Unlock()
	for _, on := range now.nodeTypes {
		all = append(all, now.needed(created, share, on, node))
	}
	return all
}

// bucket is by how much more than what a container uses it needs at most, because usage is counted in buckets. Memory has
// more room below the limit.
var bucket = map[corev1.ResourceName]*big.Rat{corev1.ResourceCPU: big.NewRat(112, 100), corev1.ResourceMemory: big.NewRat(126, 100)}

// needed returns the requests on a node that follow from the usage of a share of what the author wrote, measured on a node
// type.
func (r *rule) needed(created pair, share int64, on, node string) oracle.Range {
	used := oracle.Amount{Request: usedOf(created, share, on)}
	factor, unit := big.NewRat(1, 1), int64(1)
	if created.resource == corev1.ResourceCPU {
		there, _ := r.table.factors(on)
		here, _ := r.table.factors(r.nodeTypes[node])
		factor.Quo(here, there)
	} else {
		unit = oracle.Mebibyte
	}
	size := func(factor *big.Rat) int64 {
		if created.resource == corev1.ResourceCPU {
			return oracle.CPU(used, factor, r.table.cpuBounds).Request
		}
		return oracle.Memory(used, factor, r.table.memoryBounds).Request
	}
	return oracle.Range{Min: size(factor) - unit, Max: size(new(big.Rat).Mul(factor, bucket[created.resource])) + unit}
}

func (o *demandObserver) see(obj any) {
	pod := obj.(*corev1.Pod)
	o.mu.Lock()
	defer o.mu.Unlock()
	created, ok := o.known[pod.UID]
	if !ok {
		return // It belongs to another world.
	}
	say := func(format string, args ...any) {
		o.wrong = append(o.wrong, fmt.Sprintf("%s/%s once had ", pod.Namespace, pod.Name)+fmt.Sprintf(format, args...))
	}
	if guaranteed(pod) != guaranteed(created) {
		say("a different QoS class")
	}
	for p := range pairsOf(pod) {
		if !o.left[pod.UID] && !o.allows(p, p.in(created), pod.Spec.NodeName) {
			say("%s %s %v, which nothing leads to; it was created with %v", p.container.Name, p.resource, p.now(), p.in(created).now())
		}
	}
	originals := sizedFor(created, "")
	for key, value := range pod.Annotations {
		if strings.HasPrefix(key, contract.OriginalPrefix) && !equalQuantities(value, originals[key]) {
			say("annotation %s: %q, want %q", key, value, originals[key])
		}
	}
}

// allows reports whether a container may have the size of a resource that it has, given the container as created.
func (o *demandObserver) allows(p, created pair, node string) bool {
	now, original := p.now(), created.now()
	if now == original {
		return true
	}
	for i := range o.rules {
		r := &o.rules[i]
		free := rule{table: &table{baseline: r.table.baseline, cpu: r.table.cpu, memory: r.table.memory}, nodeTypes: r.nodeTypes}
		if now == r.want(original, created, node) || now == free.want(original, created, node) {
			return true
		}
	}
	o.bySource++
	if !o.follows(now.Request, created, node) {
		return false
	}
	switch original.Limit {
	case 0:
		return now.Limit == 0
	case original.Request:
		return now.Limit == now.Request
	}
	// The limit keeps its proportion to the request, but is not lowered below what the container uses.
	request := int64(float64(now.Limit) * float64(original.Request) / float64(original.Limit))
	return now.Limit > now.Request && (o.follows(request, created, node) || o.follows(now.Limit, created, node))
}

// follows reports whether a request follows from what the container used at any time, or from a bound.
func (o *demandObserver) follows(request int64, created pair, node string) bool {
	for i := range o.rules {
		r := &o.rules[i]
		bounds, unit := r.table.cpuBounds, int64(1)
		if created.resource == corev1.ResourceMemory {
			bounds, unit = r.table.memoryBounds, oracle.Mebibyte
		}
		authored := r.want(created.now(), created, node).Request
		if request == bounds.Min || request == bounds.Max || distance(request, authored) <= unit {
			return true
		}
		for share := range o.shares[created.container.Name] {
			for on := range speeds {
				if in := r.needed(created, share, on, node); in.Min <= request && request <= in.Max {
					return true
				}
			}
		}
	}
	return false
}

// check fails the test if anything was wrong, or if sizes never followed usage.
func (o *demandObserver) check(t *testing.T) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, wrong := range o.wrong {
		t.Error(wrong)
	}
	if o.bySource == 0 {
		t.Error("no size ever followed usage")
	}
}

// nearAny reports whether an amount is in one of the ranges, or outside of one by at most a share of it.
func nearAny(v int64, ranges []oracle.Range, share float64) bool {
	for _, in := range ranges {
		if float64(in.Min)*(1-share) <= float64(v) && float64(v) <= float64(in.Max)*(1+share) {
			return true
		}
	}
	return false
}
