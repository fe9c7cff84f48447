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

	"github.com/workload-resizer/workload-resizer/internal/fair"
)

// fieldManager is the field manager of every write to a document, as of all writes of
// the server.
const fieldManager = "workload-resizer"

// writeTimeout limits the duration of one change, including all attempts.
const writeTimeout = 20 * time.Second

// conflicts are rare: a process makes one write at a time.
var conflicts = wait.Backoff{Steps: 12, Duration: 10 * time.Millisecond, Factor: 1.5, Jitter: 0.5}

// Turn is when a change is written if others wait, too. Its origin names the changes that may delay
// each other. The zero value is for documents whose changes are written in the order of their arrival.
type Turn = fair.Turn

// Change returns the new data of the ConfigMap, given its current content and data;
// nil leaves the data unchanged. It must not change its arguments.
type Change[T any] func(content T, data map[string]string) (map[string]string, error)

// Update changes the document, and tries again if another writer has changed it in
// the meantime: change may be called more than once. It must not wait for anything,
// because other writes wait for it. Only the keys that change are sent. The change is
// in effect in this process when Update returns. The error may be a ReadOnlyError,
// *MissingError, *ContentError or *RefusedError, or come from change or ctx.
func (d *Document[T]) Update(ctx context.Context, turn Turn, change Change[T]) error {
	if d.ReadOnly {
		return ReadOnlyError{d.Noun}
	}
	leave, err := d.writing.Enter(ctx, turn)
	if err != nil {
		return fmt.Errorf("wait for earlier changes to %s: %w", d.Source, err)
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if wrote, err := d.updateLatest(ctx, change); wrote && !apierrors.IsConflict(err) {
		return err
	}
	return retry.RetryOnConflict(conflicts, func() error { return d.updateStored(ctx, change) })
}

// Refresh reads what is stored, which may be newer than what Run has heard of. The error is as of Update.
func (d *Document[T]) Refresh(ctx context.Context) error {
	return d.Update(ctx, Turn{}, func(T, map[string]string) (map[string]string, error) { return nil, nil })
}

// Check returns the error that Update would return, as far as the state that this process
// knows shows it. It waits for nothing and asks nobody, so that no check delays a write.
func (d *Document[T]) Check(change Change[T]) error {
	d.mu.Lock()
	content, cm, gone, err := d.content, d.latest, d.gone, d.err
	d.mu.Unlock()
	switch {
	case err != nil:
		return err
	case gone:
		return d.missing()
	}
	_, err = change(content, cm.Data)
	return err
}

// updateLatest changes the state that this process knows, which saves reading the
// ConfigMap. It writes only if there is something to change. If there is nothing, or if the
// change is an error, the stored state decides.
func (d *Document[T]) updateLatest(ctx context.Context, change Change[T]) (wrote bool, err error) {
	d.mu.Lock()
	cm := d.latest
	d.mu.Unlock()
	if cm == nil {
		return false, nil
	}
	data, err := d.changed(cm, change)
	if err != nil || data == nil {
		return false, nil
	}
	return true, d.write(ctx, cm, data)
}

func (d *Document[T]) updateStored(ctx context.Context, change Change[T]) error {
	cm, err := d.Source.Client.CoreV1().ConfigMaps(d.Source.Namespace).Get(ctx, d.Source.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return d.missing()
	}
	if err != nil {
		return Failed(d.Source, "read", err)
	}
	d.takeOwn(ctx, cm)
	data, err := d.changed(cm, change)
	if err != nil || data == nil {
		return err
	}
	return d.write(ctx, cm, data)
}

func (d *Document[T]) changed(cm *corev1.ConfigMap, change Change[T]) (map[string]string, error) {
	content, err := d.Parse(cm.Data)
	if err != nil {
		return nil, &ContentError{d.Source, d.Noun, err}
	}
	return change(content, cm.Data)
}

func (d *Document[T]) missing() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &MissingError{d.Source, d.Noun, d.inForce.Count}
}
