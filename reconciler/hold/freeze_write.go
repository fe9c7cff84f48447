package hold

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// seenWithin is how long Freeze and Unfreeze wait until this process has seen their
// write, and seenEvery is how often they look.
const (
	seenWithin = 5 * time.Second
	seenEvery  = 5 * time.Millisecond
)

// Freeze stops all writes to pods until Unfreeze, and returns the stored freeze. It starts
// now, whatever f.Since is, or keeps the start of the freeze that it replaces. It is in effect
// in this process when Freeze returns. The error may be a *FieldError, *RefusedError or
// ErrFreezeReadOnly. If the freeze could not be stored, the error says how to freeze the
// cluster without the server.
func (s *Store) Freeze(ctx context.Context, f Freeze) (Freeze, error) {
	if wrong := f.Faults(); len(wrong) > 0 {
		return Freeze{}, fmt.Errorf("freeze: %w", wrong[0])
	}
	if s.readOnly {
		return Freeze{}, ErrFreezeReadOnly
	}
	f = s.CheckFreeze(f)
	source := s.freeze.source
	// Applied on the server: unlike a create, the right to it can be limited to the name.
	cm := applycorev1.ConfigMap(source.Name, source.Namespace).WithLabels(map[string]string{contract.AppLabel: contract.AppName}).WithData(f.data())
	options := metav1.ApplyOptions{FieldManager: contract.FieldManager, Force: true}
	_, err := source.Client.CoreV1().ConfigMaps(source.Namespace).Apply(ctx, cm, options)
	if err != nil {
		return Freeze{}, fmt.Errorf("%w; to freeze the cluster without the server, run: %s",
			document.Failed(source, "write", err), FreezeCommand(source.Namespace, source.Name))
	}
	return f, s.seen(ctx, func(now *Freeze) bool { return now != nil })
}

// CheckFreeze returns the freeze that Freeze would store.
func (s *Store) CheckFreeze(f Freeze) Freeze {
	f.Since = s.clock.Now().UTC().Truncate(time.Second)
	if now, err := s.freeze.state(); err == nil && now != nil {
		f.Since = now.Since
	}
	return f
}

// Unfreeze ends the freeze, and returns the freeze that has ended; nil if there was none. It
// is no longer in effect in this process when Unfreeze returns. The errors are the same as
// for Freeze.
func (s *Store) Unfreeze(ctx context.Context) (*Freeze, error) {
	if s.readOnly {
		return nil, ErrFreezeReadOnly
	}
	source := s.freeze.source
	objects := source.Client.CoreV1().ConfigMaps(source.Namespace)
	// Not what the watch has delivered: it may be late, and the end of a freeze must not
	// remove a freeze that nobody has seen.
	stored, err := objects.Get(ctx, source.Name, metav1.GetOptions{})
	var ended *Freeze
	if err == nil {
		ended = freezeIn(stored)
		err = objects.Delete(ctx, source.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &stored.UID, ResourceVersion: &stored.ResourceVersion}})
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, s.freeze.problem()
	case apierrors.IsConflict(err):
		return nil, fmt.Errorf("%s was changed just now: look who froze the cluster, and try again", source)
	case err != nil:
		return nil, fmt.Errorf("%w; to end the freeze without the server, run: %s", document.Failed(source, "delete", err), UnfreezeCommand(source.Namespace, source.Name))
	}
	return ended, s.seen(ctx, func(now *Freeze) bool { return now == nil })
}

// Frozen returns the freeze in effect, nil if there is none, or why it is unknown.
func (s *Store) Frozen() (*Freeze, error) { return s.freeze.state() }

// seen waits until this process has seen the freeze in the state that it wrote.
func (s *Store) seen(ctx context.Context, written func(*Freeze) bool) error {
	err := wait.PollUntilContextTimeout(ctx, seenEvery, seenWithin, true, func(context.Context) (bool, error) {
		_ = s.freeze.look(ctx) // The watch may be late.
		table := s.table.Load()
		now, err := s.freeze.state()
		return err == nil && written(now) && (table == nil || table.Freeze() == now), nil
	})
	if err != nil {
		return fmt.Errorf("%s is written, but this replica has not seen that yet: %w", s.freeze.source, err)
	}
	return nil
}
