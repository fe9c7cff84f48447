package selfsigned

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/internal/follow"
)

const (
	fieldManager = "workload-resizer"
	// writeTimeout limits one write.
	writeTimeout = 10 * time.Second
)

// look puts into effect what was read, and makes at most one write that is due. It returns
// when to look again if nothing changes until then.
func (k *Keeper) look(ctx context.Context) time.Duration {
	k.mu.Lock()
	secret, bundle, secretError, bundleErr, good := k.seenSecret, k.seenBundle, k.secretError, k.bundleErr, k.good
	k.mu.Unlock()
	now := k.config.Clock.Now()

	if k.config.DryRun {
		k.note(ctx, k.lookDry(secret, secretError, now))
		return period
	}
	if secret == nil {
		k.note(ctx, secretError)
		return period
	}
	c, fault := parse(secret.Data, good.authorities, now)
	if fault != nil {
		k.note(ctx, fmt.Errorf("%s: %w", k.secret, fault))
	}
	if errors.Is(fault, errForeign) {
		return period
	}
	k.serve(c)
	wrote, err := k.write(ctx, &c, secret, bundle, bundleErr, now)
	if apierrors.IsConflict(err) {
		// Another replica was faster; the watch delivers its change.
		return retry
	}
	if err != nil || fault == nil {
		k.note(ctx, err)
	}
	if err != nil || wrote {
		return retry
	}
	return period
}

// write makes the next write of a content, and reports whether there was one.
func (k *Keeper) write(ctx context.Context, c *content, secret *corev1.Secret, bundle *corev1.ConfigMap, bundleErr error, now time.Time) (bool, error) {
	authorities, err := c.bundle()
	if err != nil {
		return false, err
	}
	published := bundle != nil && bundle.Data[authoritiesKey] == string(authorities)
	changed, what := *c, ""
	switch c.next(k.config.DNSNames, published, now) {
	case nothing:
		return false, nil
	case publish:
		if bundle == nil {
			return false, bundleErr
		}
		return true, k.publish(ctx, bundle, authorities)
	case renewAuthority:
		what = "Created a certificate authority"
		changed, err = c.withAuthority(k.config.DNSNames, now)
	case renewServing:
		what = "Created a serving certificate"
		changed, err = c.withServing(k.config.DNSNames, now)
	case dropAuthorities:
		what = "Removed the previous certificate authorities"
		changed.authorities = c.authorities[:1]
	}
	if err != nil {
		return false, err
	}
	if err := k.store(ctx, secret, &changed); err != nil {
		return true, err
	}
	klog.FromContext(ctx).Info(what, "secret", klog.KObj(secret))
	return true, nil
}

func (k *Keeper) store(ctx context.Context, secret *corev1.Secret, c *content) error {
	data, err := c.data()
	if err != nil {
		return err
	}
	secret = secret.DeepCopy()
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	maps.Copy(secret.Data, data)
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if _, err := k.config.Client.CoreV1().Secrets(secret.Namespace).Update(ctx, secret, metav1.UpdateOptions{FieldManager: fieldManager}); err != nil {
		return fmt.Errorf("write %s: %w", k.secret, err)
	}
	return nil
}

func (k *Keeper) publish(ctx context.Context, bundle *corev1.ConfigMap, authorities []byte) error {
	bundle = bundle.DeepCopy()
	if bundle.Data == nil {
		bundle.Data = map[string]string{}
	}
	bundle.Data[authoritiesKey] = string(authorities)
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if _, err := k.config.Client.CoreV1().ConfigMaps(bundle.Namespace).Update(ctx, bundle, metav1.UpdateOptions{FieldManager: fieldManager}); err != nil {
		return fmt.Errorf("write %s: %w", k.bundle, err)
	}
	klog.FromContext(ctx).Info("Published the certificate authorities", "configMap", klog.KObj(bundle))
	return nil
}

// lookDry serves the certificate of the Secret or, if there is none, a certificate that is
// not stored.
func (k *Keeper) lookDry(secret *corev1.Secret, secretError error, now time.Time) error {
	var c content
	if secret != nil {
		// Its faults are reported by replicas that may repair it.
		c, _ = parse(secret.Data, nil, now)
	} else if !errors.Is(secretError, follow.ErrMissing) {
		return secretError
	}
	if c.serving != nil {
		k.serve(c)
		return nil
	}
	if k.Ready() != nil || isDue(k.good.serving.Leaf, now) {
		own, err := content{}.withAuthority(k.config.DNSNames, now)
		if err == nil {
			own, err = own.withServing(k.config.DNSNames, now)
		}
		if err != nil {
			return err
		}
		k.serve(own)
	}
	return fmt.Errorf("%s has no certificate, and --dry-run writes none: callers cannot verify the certificate that is served", k.secret)
}
