package document

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

// fieldManager is who the API server is told writes documents, as all that the server does.
const fieldManager = "workload-resizer"

// writeTimeout bounds one change, with all its tries.
const writeTimeout = 20 * time.Second

// conflicts are few: writes of one process come one at a time.
var conflicts = wait.Backoff{Steps: 12, Duration: 10 * time.Millisecond, Factor: 1.5, Jitter: 0.5}

// Change says what the data of the ConfigMap is to be, from what it is and says
// now; nil leaves it as it is. It must not change its arguments.
type Change[T any] func(content T, data map[string]string) (map[string]string, error)

// Update changes the document, and tries again if somebody else has changed it in
// the meantime: change may be called more than once, each time with what is
// stored then. What is written is in force here when Update returns. With
// validateOnly it does everything but the write. The error may be a
// ReadOnlyError, *MissingError, *ContentError or *RefusedError, or that of change
// or of ctx.
func (d *Document[T]) Update(ctx context.Context, validateOnly bool, change Change[T]) error {
	if d.ReadOnly && !validateOnly {
		return ReadOnlyError{d.Noun}
	}
	select {
	case d.writing <- struct{}{}:
		defer func() { <-d.writing }()
	case <-ctx.Done():
		return fmt.Errorf("wait for earlier changes of %s: %w", d.Source, ctx.Err())
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return retry.RetryOnConflict(conflicts, func() error { return d.tryUpdate(ctx, validateOnly, change) })
}

func (d *Document[T]) tryUpdate(ctx context.Context, validateOnly bool, change Change[T]) error {
	cm, err := d.Source.Client.CoreV1().ConfigMaps(d.Source.Namespace).Get(ctx, d.Source.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return d.missing()
	}
	if err != nil {
		return d.failed("read", err)
	}
	d.takeOwn(ctx, cm)
	content, err := d.Parse(cm.Data)
	if err != nil {
		return &ContentError{d.Source, d.Noun, err}
	}
	data, err := change(content, cm.Data)
	if err != nil || data == nil || validateOnly {
		return err
	}
	cm.Data = data
	return d.write(ctx, cm)
}

// write writes the ConfigMap and puts its content in force.
func (d *Document[T]) write(ctx context.Context, cm *corev1.ConfigMap) error {
	cm, err := d.Source.Client.CoreV1().ConfigMaps(d.Source.Namespace).Update(ctx, cm, metav1.UpdateOptions{FieldManager: fieldManager})
	if err != nil {
		return d.failed("write", err)
	}
	d.takeOwn(ctx, cm)
	return nil
}

func (d *Document[T]) missing() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &MissingError{d.Source, d.Noun, d.inForce.Count}
}

// failed tells what the API server refuses for good from what may pass.
func (d *Document[T]) failed(attempt string, err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) {
		return &RefusedError{d.Source, err}
	}
	return fmt.Errorf("%s %s: %w", attempt, d.Source, err)
}
