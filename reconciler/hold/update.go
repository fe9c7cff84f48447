package hold

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// write writes the ConfigMap; nil is for those who only want to know whether they
// could.
type write func(context.Context, *corev1.ConfigMap) error

// update changes the holds in the ConfigMap, and tries again if somebody else
// has changed them in the meantime. Expired ones are dropped on the way.
func (s *Store) update(ctx context.Context, write write, change func([]Hold) ([]Hold, error)) error {
	if s.readOnly {
		return ErrReadOnly
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return retry.RetryOnConflict(conflicts, func() error { return s.tryUpdate(ctx, write, change) })
}

func (s *Store) tryUpdate(ctx context.Context, write write, change func([]Hold) ([]Hold, error)) error {
	cm, err := s.source.Client.CoreV1().ConfigMaps(s.source.Namespace).Get(ctx, s.source.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return &MissingError{s.source, len(s.table.Load().All())}
	}
	if err != nil {
		return s.failed("read", err)
	}
	s.takeOwn(ctx, cm)
	holds, err := parse(cm.Data)
	if err != nil {
		return &ContentError{s.source, err}
	}
	changed, err := change(live(holds, s.clock.Now()))
	if err != nil || slices.Equal(changed, holds) {
		return err
	}
	text, err := readable(changed)
	if err != nil {
		return err
	}
	grows := len(text) > len(cm.Data[Key])
	if grows && (len(changed) > maxHolds || len(text) > maxBytes) {
		return &FullError{len(changed), len(text)}
	}
	if write == nil {
		return nil
	}
	cm.Data = map[string]string{Key: text}
	return write(ctx, cm)
}

// write writes the ConfigMap and puts its holds in force.
func (s *Store) write(ctx context.Context, cm *corev1.ConfigMap) error {
	cm, err := s.source.Client.CoreV1().ConfigMaps(s.source.Namespace).Update(ctx, cm, metav1.UpdateOptions{FieldManager: contract.FieldManager})
	if err != nil {
		return s.failed("write", err)
	}
	s.takeOwn(ctx, cm)
	return nil
}

// failed tells what the API server refuses for good from what may pass.
func (s *Store) failed(attempt string, err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) {
		return &RefusedError{s.source, err}
	}
	return fmt.Errorf("%s %s: %w", attempt, s.source, err)
}
