package hold

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/internal/follow"
)

const (
	// freshFor is how old a read of the freeze may be that a write relies on.
	freshFor = 500 * time.Millisecond
	// lookWithin is how long a read may take.
	lookWithin = 500 * time.Millisecond
	// lookEvery is how often the freeze is read without a write, so that a replica whose
	// watch is silent reports the right state, and sees the end of a freeze.
	lookEvery = 5 * time.Second
)

// FrozenNow reports whether the cluster is frozen, as Look does.
func (s *Store) FrozenNow(ctx context.Context) (bool, error) {
	freeze, err := s.Look(ctx)
	return freeze != nil, err
}

// Look returns the freeze, nil if there is none, as the API server says, or said less than half
// a second ago. It returns an error if that cannot be read.
func (s *Store) Look(ctx context.Context) (*Freeze, error) {
	if err := s.freeze.look(ctx); err != nil {
		// Not wrapped: it says nothing about the write that is waiting for this.
		return nil, errors.New(fmt.Sprint("read whether the cluster is frozen (", s.freeze.source, "): ", err))
	}
	return s.freeze.state()
}

// look reads the ConfigMap, unless that was done a moment ago.
func (f *freezeFollower) look(ctx context.Context) error {
	f.looking.Lock()
	defer f.looking.Unlock()
	if f.clock.Since(f.lookBegan) < freshFor {
		return f.lookErr
	}
	f.lookBegan = f.clock.Now()
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	// Without a resource version, the API server answers with the latest state.
	cm, err := f.looker.CoreV1().ConfigMaps(f.source.Namespace).Get(ctx, f.source.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		err = follow.ErrMissing
	}
	if f.lookErr = err; errors.Is(err, follow.ErrMissing) {
		f.lookErr = nil
	}
	if f.lookErr != nil {
		return f.lookErr // The state is what was known last, but no write relies on it.
	}
	before, _ := f.state()
	f.take(ctx, cm, err)
	if after, _ := f.state(); after != before {
		f.changed()
	}
	return nil
}

// poll reads the ConfigMap again and again until ctx is done.
func (f *freezeFollower) poll(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = f.look(ctx) // The watch reports what users can do something about.
		}
	}
}
