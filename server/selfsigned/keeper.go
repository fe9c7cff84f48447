package selfsigned

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/follow"
)

const (
	// period is how often the Keeper checks whether a renewal is due, and retry how soon it
	// checks again after a problem.
	period = time.Hour
	retry  = 10 * time.Second
)

// Config configures a Keeper. All fields must be set, except for DryRun.
type Config struct {
	// Client must be allowed to list, watch and update both objects, and must not limit the
	// duration of a watch.
	Client kubernetes.Interface
	// Namespace is the namespace of the Secret and the ConfigMap, which must exist.
	Namespace, SecretName, ConfigMapName string
	// DNSNames are the DNS names that callers use for the server.
	DNSNames []string
	// Clock is the clock for renewals.
	Clock clock.Clock
	// DryRun writes nothing. The Keeper serves the certificate of the Secret or, if there is
	// none, a certificate that no caller can verify.
	DryRun bool
}

// Keeper maintains the certificate. It is safe for concurrent use.
type Keeper struct {
	config Config
	secret follow.Secret
	bundle follow.ConfigMap
	// changed receives a value when one of the objects may have changed.
	changed chan struct{}

	mu sync.Mutex
	// seenSecret and seenBundle are the objects as last read; nil if they could not be read,
	// and then the errors state why.
	seenSecret             *corev1.Secret
	seenBundle             *corev1.ConfigMap
	secretError, bundleErr error
	// good is the last content that could be served.
	good content
	// problem is why the current content is not in effect, or cannot be renewed.
	problem error
}

// New returns a Keeper that has no certificate until Run.
func New(config Config) *Keeper {
	k := &Keeper{
		config:  config,
		secret:  follow.Secret{Client: config.Client, Namespace: config.Namespace, Name: config.SecretName},
		bundle:  follow.ConfigMap{Client: config.Client, Namespace: config.Namespace, Name: config.ConfigMapName},
		changed: make(chan struct{}, 1),
	}
	k.secretError = fmt.Errorf("%s has not been read yet", k.secret)
	k.bundleErr = fmt.Errorf("%s has not been read yet", k.bundle)
	k.problem = k.secretError
	return k
}

// Run maintains the certificate until ctx is done; then it returns nil. It returns an error
// if it cannot continue.
func (k *Keeper) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var following sync.WaitGroup
	var secretEnd, bundleEnd error
	following.Go(func() {
		defer cancel()
		secretEnd = k.secret.Run(ctx, k.takeSecret)
	})
	following.Go(func() {
		defer cancel()
		bundleEnd = k.bundle.Run(ctx, k.takeBundle)
	})
	for ctx.Err() == nil {
		k.wait(ctx, k.look(ctx))
	}
	following.Wait()
	return errors.Join(secretEnd, bundleEnd)
}

// wait returns when something has changed, or after atMost.
func (k *Keeper) wait(ctx context.Context, atMost time.Duration) {
	timer := k.config.Clock.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-k.changed:
	case <-timer.C():
	}
}

func (k *Keeper) takeSecret(secret *corev1.Secret, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seenSecret, k.secretError = secret, advised(err)
	k.notify()
}

func (k *Keeper) takeBundle(bundle *corev1.ConfigMap, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seenBundle, k.bundleErr = bundle, advised(err)
	k.notify()
}

func (k *Keeper) notify() {
	select {
	case k.changed <- struct{}{}:
	default: // A look is pending.
	}
}

// advised adds advice if the object is missing.
func advised(err error) error {
	if errors.Is(err, follow.ErrMissing) {
		return fmt.Errorf("%w: apply deploy/base/tls.yaml, which creates it", err)
	}
	return err
}

// note sets the problem, and logs it if it is new.
func (k *Keeper) note(ctx context.Context, problem error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if problem != nil && ctx.Err() == nil && (k.problem == nil || k.problem.Error() != problem.Error()) {
		klog.FromContext(ctx).Error(problem, "Self-signed certificate has a problem")
	}
	k.problem = problem
}

// serve puts content into effect if it can be served.
func (k *Keeper) serve(c content) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.serving != nil {
		k.good = c
	}
}

// GetCertificate returns the certificate in effect, for a tls.Config.
func (k *Keeper) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if err := k.Ready(); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.good.serving, nil
}

// Ready returns why there is no certificate yet, nil once there is one.
func (k *Keeper) Ready() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.good.serving != nil:
		return nil
	case k.problem != nil:
		return fmt.Errorf("there is no certificate yet: %w", k.problem)
	}
	return errors.New("there is no certificate yet: it is being created")
}

// Problem returns why the certificate in effect is not the one in the Secret, or cannot be
// renewed; nil if there is no problem.
func (k *Keeper) Problem() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.problem
}

// Expiry returns when the certificate in effect expires; zero if there is none.
func (k *Keeper) Expiry() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.good.serving == nil {
		return time.Time{}
	}
	return k.good.serving.Leaf.NotAfter
}
