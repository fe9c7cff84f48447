package chaos

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// ledger holds the accounts of all pods of a world.
type ledger struct {
	mu sync.Mutex
	// seen are the states that are not accounted for yet, in order.
	seen     map[types.UID][]*corev1.Pod
	accounts map[types.UID]*account
	// theirs are the resource versions that actors other than reconcilers wrote.
	theirs map[string]bool
	counts counts
}

// counts counts what happened.
type counts struct{ states, resized, restored, adopted, checked int }

func (w *world) keepLedger(t *testing.T) *ledger {
	t.Helper()
	l := &ledger{seen: map[types.UID][]*corev1.Pod{}, accounts: map[types.UID]*account{}, theirs: map[string]bool{}}
	see := func(obj any) {
		pod := obj.(*corev1.Pod)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.seen[pod.UID] = append(l.seen[pod.UID], pod)
	}
	if _, err := w.seen.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, obj any) { see(obj) }}); err != nil {
		t.Fatal(err)
	}
	return l
}

// wrote records a state that an actor other than a reconciler wrote. It must be called
// before the pod's states are accounted for.
func (l *ledger) wrote(pod *corev1.Pod) { l.theirs[pod.ResourceVersion] = true }

// settle accounts for all states seen so far.
func (l *ledger) settle(t *testing.T, w *world) {
	t.Helper()
	l.mu.Lock()
	seen := l.seen
	l.seen = map[types.UID][]*corev1.Pod{}
	l.mu.Unlock()
	current := map[types.UID]bool{}
	for _, created := range w.created {
		current[created.UID] = true
		if l.accounts[created.UID] == nil {
			l.accounts[created.UID] = accountOf(created)
		}
	}
	for uid, a := range l.accounts {
		for _, pod := range seen[uid] {
			l.account(t, a, pod, w.ofLate())
		}
		if !current[uid] {
			delete(l.accounts, uid)
		}
	}
}

func (l *ledger) account(t *testing.T, a *account, pod *corev1.Pod, rules []rule) {
	t.Helper()
	before := a.last
	if pod.ResourceVersion == before.ResourceVersion {
		return // As it was created.
	}
	l.counts.states++
	theirs := l.theirs[pod.ResourceVersion]
	wrong := a.see(pod, theirs, rules)
	a.tell(pod, theirs)
	if len(wrong) > 0 {
		t.Errorf("%s/%s: %s; external resizes: %v\n%s", pod.Namespace, pod.Name, strings.Join(wrong, "; "), toldTo(rules), strings.Join(a.told, "\n"))
	}
	switch {
	case theirs && sizesOf(before) != sizesOf(pod):
		l.counts.resized++
	case !theirs && len(ours(before)) > 0 && len(ours(pod)) == 0:
		l.counts.restored++
	case !theirs && adoptions(pod) > adoptions(before):
		l.counts.adopted++
	}
}

// toldStates is the number of states in a failure message.
const toldStates = 20

// tell records a state with its expected originals, for failure messages.
func (a *account) tell(pod *corev1.Pod, theirs bool) {
	by := "reconciler"
	if theirs {
		by = "another actor"
	}
	originals := oracle.Text(resizable(pod), func(c *corev1.Container) (cpu, memory oracle.Amount) {
		return a.original(pair{c, corev1.ResourceCPU}), a.original(pair{c, corev1.ResourceMemory})
	})
	a.told = append(a.told, fmt.Sprintf("%s by %s: %s%v, by %s; originally %s", pod.ResourceVersion, by, sizesOf(pod), ours(pod), writers(pod), originals))
	a.told = a.told[max(0, len(a.told)-toldStates):]
}

// adoptions returns the number of parts that are annotated as adopted.
func adoptions(pod *corev1.Pod) (n int) {
	for p := range amountsOf(pod) {
		if adopted(pod, p) {
			n++
		}
	}
	return n
}

// toldTo returns how processes may have been configured to treat external resizes.
func toldTo(rules []rule) (all []plan.External) {
	for _, r := range rules {
		all = append(all, r.external)
	}
	return slices.Compact(all)
}

// writers returns the managers that wrote the pod, and the subresources that they used.
func writers(pod *corev1.Pod) (names []string) {
	for _, m := range pod.ManagedFields {
		if m.Subresource != "status" {
			names = append(names, m.Manager+"/"+m.Subresource)
		}
	}
	return names
}
