package chaos

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// observer sees every state of every pod, and knows which states are allowed.
type observer struct {
	mu    sync.Mutex
	known map[types.UID]*known
	wrong []string
	// states is the number of states seen.
	states int
}

// known has the observed facts about a pod.
type known struct {
	created *corev1.Pod
	// allowed are the allowed sizes of the whole pod: the sizes that it was created with,
	// and the sizes of each table that was in effect.
	allowed map[string]bool
}

// observe watches the pods of the world from now on.
func (w *world) observe(t *testing.T) *observer {
	t.Helper()
	o := &observer{known: map[types.UID]*known{}}
	for _, created := range w.created {
		o.know(created)
	}
	o.allow(w.table)
	if _, err := w.seen.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    o.see,
		UpdateFunc: func(_, obj any) { o.see(obj) },
	}); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *observer) know(created *corev1.Pod) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known[created.UID] = &known{created, map[string]bool{sizesOf(created): true}}
}

// allow must be called before a table takes effect. Any of its node types may apply.
func (o *observer) allow(tbl *table) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, k := range o.known {
		for nodeType := range tbl.cpu {
			k.allowed[tbl.sizesFor(k.created, nodeType)] = true
		}
	}
}

func (o *observer) see(obj any) {
	pod := obj.(*corev1.Pod)
	o.mu.Lock()
	defer o.mu.Unlock()
	k, ok := o.known[pod.UID]
	if !ok {
		return // It belongs to another world.
	}
	o.states++
	// All containers of a pod are resized together, so a mixture of two tables is
	// as wrong as any other size.
	if !k.allowed[sizesOf(pod)] {
		o.wrong = append(o.wrong, fmt.Sprintf("%s/%s once had %q, which no table gives", pod.Namespace, pod.Name, sizesOf(pod)))
	}
	originals := sizedFor(k.created, "")
	for key, value := range pod.Annotations {
		if strings.HasPrefix(key, contract.OriginalPrefix) && !equalQuantities(value, originals[key]) {
			o.wrong = append(o.wrong, fmt.Sprintf("%s/%s once had annotation %s: %q, but was created with %q", pod.Namespace, pod.Name, key, value, originals[key]))
		}
	}
}

// check fails the test if anything was wrong.
func (o *observer) check(t *testing.T) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, wrong := range o.wrong {
		t.Error(wrong)
	}
	if o.states == 0 {
		t.Error("no pod was ever seen")
	}
}
