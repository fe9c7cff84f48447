package owners

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// maxDepth is the maximum number of workloads of a pod. Known operators create up to four.
const maxDepth = 8

// graph has the objects of all kinds, each of which may be controlled by another one.
type graph struct {
	mu      sync.RWMutex
	objects map[types.UID]*object
	// owned has the objects that name a controller, by the uid of the controller, known
	// or not.
	owned map[types.UID][]*object
	// deleted has the objects that were deleted last, and order their uids, the oldest first. The
	// garbage collector deletes an owner before the pods, which may take long to end: until then, they
	// belong to the same workloads.
	deleted map[types.UID]*object
	order   []types.UID
}

// mostDeleted is how many deleted objects are kept. Each takes about 200 bytes.
const mostDeleted = 10_000

func newGraph() *graph {
	return &graph{objects: map[types.UID]*object{}, owned: map[types.UID][]*object{}, deleted: map[types.UID]*object{}}
}

// chain appends the workloads of the pod, the narrowest first.
func (g *graph) chain(to []workload.Workload, of *pod.Pod) []workload.Workload {
	g.walk(of, func(is workload.Workload, _ string) { to = append(to, is) })
	return to
}

// walk visits the workloads of the pod with their API groups, the narrowest first.
func (g *graph) walk(of *pod.Pod, visit func(is workload.Workload, group string)) {
	owner := of.Controller()
	if !owner.Exists() {
		return
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	at := reference{owner.GroupKind, owner.Name, owner.UID}
	var seen [maxDepth]types.UID
	for depth := range maxDepth {
		is := workload.Workload{Kind: at.kind.Kind, Name: at.name}
		visit(is, at.kind.Group)
		seen[depth] = at.uid
		o := g.objects[at.uid]
		if o == nil {
			o = g.deleted[at.uid]
		}
		if o == nil || !o.is(of.Namespace(), &at) {
			if above, ok := workload.AboveByName(is, at.kind.Group, of); ok && depth+1 < maxDepth {
				visit(above, at.kind.Group) // A built-in kind and the one above it are in the same group.
			}
			return
		}
		above, ok := o.above()
		if !ok || slices.Contains(seen[:depth+1], above.uid) {
			return
		}
		at = above
	}
}

// set stores the state of an object, and returns the uids of the objects whose pods may
// have other workloads than before.
func (g *graph) set(o *object) (affected []types.UID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.objects[o.uid]
	if before != nil && *before == *o {
		return nil
	}
	if before != nil {
		g.disown(before)
	}
	g.objects[o.uid] = o
	delete(g.deleted, o.uid)
	if above, ok := o.above(); ok {
		g.owned[above.uid] = append(g.owned[above.uid], o)
	}
	return g.below(o.uid)
}

// remove removes an object that was deleted. The objects that it controls will be deleted, too, or lose
// the owner reference, so no pods are affected yet.
func (g *graph) remove(uid types.UID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := g.objects[uid]
	if o == nil {
		return
	}
	g.drop(o)
	if g.deleted[uid] = o; len(g.order) >= mostDeleted {
		delete(g.deleted, g.order[0])
		g.order = g.order[1:]
	}
	g.order = append(g.order, uid)
}

// forget removes all objects of a kind, which may exist but can no longer be read.
func (g *graph) forget(k *kind) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, o := range g.objects {
		if o.kind == k {
			g.drop(o)
		}
	}
	maps.DeleteFunc(g.deleted, func(_ types.UID, o *object) bool { return o.kind == k })
}

// drop removes an object.
func (g *graph) drop(o *object) {
	g.disown(o)
	delete(g.objects, o.uid)
}

// of returns the uids of all objects of a kind.
func (g *graph) of(k *kind) map[types.UID]struct{} {
	g.mu.RLock()
	defer g.mu.RUnlock()
	uids := map[types.UID]struct{}{}
	for uid, o := range g.objects {
		if o.kind == k {
			uids[uid] = struct{}{}
		}
	}
	return uids
}

// disown removes an object from the objects that its controller owns.
func (g *graph) disown(o *object) {
	above, ok := o.above()
	if !ok {
		return
	}
	left := slices.DeleteFunc(g.owned[above.uid], func(other *object) bool { return other == o })
	if len(left) == 0 {
		delete(g.owned, above.uid)
		return
	}
	g.owned[above.uid] = left
}

// below returns the uid and the uids of everything below it, up to maxDepth.
func (g *graph) below(uid types.UID) []types.UID {
	all := []types.UID{uid}
	for depth, from := 1, 0; depth < maxDepth && from < len(all); depth++ {
		level := all[from:]
		from = len(all)
		for _, owner := range level {
			for _, o := range g.owned[owner] {
				all = append(all, o.uid)
			}
		}
	}
	return all
}
