package document

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/internal/follow"
)

// takeWatched processes a state of the ConfigMap that the watch reports.
func (d *Document[T]) takeWatched(ctx context.Context, cm *corev1.ConfigMap, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gone = errors.Is(err, follow.ErrMissing)
	if d.gone {
		d.latest = nil
	}
	switch {
	case d.gone && d.inForce.Count > 0:
		// Deleting the ConfigMap by mistake must not end all entries.
		d.reject(ctx, &MissingError{d.Source, d.Noun, d.inForce.Count})
	case d.gone:
		var nothing T
		d.accept(ctx, nothing)
	case err != nil:
		d.reject(ctx, err)
	case d.known.watch(stateOf(cm)):
		d.read(ctx, cm)
	}
}

// takeOwn processes the ConfigMap that this process read or wrote.
func (d *Document[T]) takeOwn(ctx context.Context, cm *corev1.ConfigMap) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gone = false
	if d.known.have(stateOf(cm)) {
		d.read(ctx, cm)
	}
}

func (d *Document[T]) read(ctx context.Context, cm *corev1.ConfigMap) {
	d.latest = cm
	content, err := d.Parse(cm.Data)
	if err != nil {
		d.OnReject(cm, err)
		d.reject(ctx, &ContentError{d.Source, d.Noun, err})
		return
	}
	d.accept(ctx, content)
}

func (d *Document[T]) accept(ctx context.Context, content T) {
	d.content, d.err = content, nil
	d.refresh(ctx)
	d.changes.Notify()
}

// reject leaves the last good content in effect.
func (d *Document[T]) reject(ctx context.Context, err error) {
	d.err = err
	d.Reject(ctx, err)
	d.changes.Notify()
}
