package admission

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
)

const (
	// renewalPeriod is how often the keys are checked, and retryAfter how soon they are checked again after a problem.
	renewalPeriod = time.Hour
	retryAfter    = 10 * time.Second
	// writeTimeout limits one write.
	writeTimeout = 10 * time.Second
)

// Keys keeps the keys that the replicas share in a Secret, which must exist. It is safe for concurrent use.
type Keys struct {
	client kubernetes.Interface
	secret follow.Secret
	clock  clock.Clock
	dryRun bool

	ring    atomic.Pointer[seal.Ring]
	changed chan struct{}
	read    chan struct{}
	first   sync.Once

	mu      sync.Mutex
	seen    *corev1.Secret
	problem error
}

// NewKeys returns keys that are unknown until Run. With dryRun, it writes nothing.
func NewKeys(client kubernetes.Interface, namespace, name string, clock clock.Clock, dryRun bool) *Keys {
	return &Keys{
		client: client, secret: follow.Secret{Client: client, Namespace: namespace, Name: name}, clock: clock, dryRun: dryRun,
		changed: make(chan struct{}, 1), read: make(chan struct{}),
	}
}

// Ring returns the keys; nil if there are none. A key that was read stays known until the process ends.
func (k *Keys) Ring() *seal.Ring { return k.ring.Load() }

// Token returns what the API server must know to ask; empty if there is no key yet that all replicas have read.
func (k *Keys) Token() string { return k.Ring().Token(k.clock.Now()) }

// Read returns a channel that is closed once it is known which keys there are.
func (k *Keys) Read() <-chan struct{} { return k.read }

// Problem returns why there are no keys, or why they cannot be renewed; nil if there is no problem.
func (k *Keys) Problem() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.problem
}

// Run reads the keys, and renews them, until ctx is done; then it returns nil.
func (k *Keys) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var following sync.WaitGroup
	var end error
	following.Go(func() {
		defer cancel()
		end = k.secret.Run(ctx, k.take)
	})
	for ctx.Err() == nil {
		again := renewalPeriod
		if k.renew(ctx) {
			again = retryAfter
		}
		timer := k.clock.NewTimer(again)
		select {
		case <-ctx.Done():
		case <-k.changed:
		case <-timer.C():
		}
		timer.Stop()
	}
	following.Wait()
	return end
}

// take adds the keys in the Secret.
func (k *Keys) take(secret *corev1.Secret, err error) {
	defer k.first.Do(func() { close(k.read) })
	if err == nil {
		var ring *seal.Ring
		ring, err = seal.ParseRing(secret.Data)
		k.ring.Store(ring.With(k.ring.Load()))
	}
	k.mu.Lock()
	k.seen = secret
	k.mu.Unlock()
	k.note(err)
	select {
	case k.changed <- struct{}{}:
	default: // A look is pending.
	}
}

// renew writes what is due, and reports whether to look again soon.
func (k *Keys) renew(ctx context.Context) bool {
	k.mu.Lock()
	secret := k.seen
	k.mu.Unlock()
	if secret == nil || k.dryRun {
		return false
	}
	now, fault := seal.ParseRing(secret.Data)
	renewed, changed := now.Renewed(k.clock.Now())
	if !changed {
		return false
	}
	secret = secret.DeepCopy()
	maps.DeleteFunc(secret.Data, func(name string, _ []byte) bool { return now.Has(name) && !renewed.Has(name) })
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	maps.Copy(secret.Data, renewed.Data())
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	_, err := k.client.CoreV1().Secrets(secret.Namespace).Update(ctx, secret, metav1.UpdateOptions{FieldManager: contract.FieldManager})
	switch {
	case apierrors.IsConflict(err):
		return true // Another replica was faster; the watch delivers its change.
	case err != nil:
		k.note(fmt.Errorf("write %s: %w", k.secret, err))
		return true
	}
	klog.FromContext(ctx).Info("Created a key for sizes at creation", "secret", klog.KObj(secret))
	k.note(fault)
	return false
}

// note sets the problem, and logs it if it is new.
func (k *Keys) note(problem error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if problem != nil && (k.problem == nil || k.problem.Error() != problem.Error()) {
		klog.Background().Error(problem, "The keys for sizes at creation have a problem")
	}
	k.problem = problem
}
