package document

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
	"github.com/workload-resizer/workload-resizer/internal/follow"
)

// Config says what a document is. All fields must be set.
type Config[T any] struct {
	// Source is where the document is. The client must be allowed to list,
	// watch, get and update it, and must not bound the time of a watch.
	Source follow.ConfigMap
	// Noun names what the document lists in messages, e.g. "holds".
	Noun string
	// ReadOnly makes Update return a ReadOnlyError, unless it only validates.
	ReadOnly bool
	// Clock tells when something expires.
	Clock clock.Clock
	// Parse reads the data of the ConfigMap. Of no data it makes the content
	// that lists nothing, which the zero T is too.
	Parse func(data map[string]string) (T, error)
	// Accept puts in force what of a good content has not expired. It is called
	// when there is a new content and when something expires, never twice at
	// the same time, and must not call the document.
	Accept func(ctx context.Context, content T) InForce
	// Reject is told why the last content that was accepted stays in force. It
	// is called as Accept is.
	Reject func(context.Context, error)
	// OnReject is told of content that is bad; it must not block.
	OnReject func(*corev1.ConfigMap, error)
}

// InForce is what of a content counts at a moment.
type InForce struct {
	// Count is how many there are of what the document lists.
	Count int
	// Expires is when the next of them does; zero if none does.
	Expires time.Time
}

// Document follows a document and changes it. All methods may be called at any
// time from any goroutine.
type Document[T any] struct {
	Config[T]
	// rearm receives when something else may be the next to expire.
	rearm chan struct{}
	// writing has the one write of this process that is under way; the others
	// wait for it as long as their callers do.
	writing chan struct{}

	mu sync.Mutex
	// content is the last good one, with what has expired.
	content T
	inForce InForce
	// known is the state that content or err come from.
	known known
	err   error
	// gone tells that there is no ConfigMap to write to.
	gone    bool
	changes broadcast.Broadcast
}

// New returns a document of which nothing is known until Run or Update.
func New[T any](c Config[T]) *Document[T] {
	return &Document[T]{Config: c, rearm: make(chan struct{}, 1), writing: make(chan struct{}, 1), err: fmt.Errorf("%s are %w", c.Noun, ErrUnread)}
}

// Run follows the ConfigMap until ctx is done; then it returns nil. A ConfigMap
// that is missing from the start lists nothing.
func (d *Document[T]) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var expiring sync.WaitGroup
	defer expiring.Wait()
	defer cancel()
	expiring.Go(func() { d.expire(ctx) })
	return d.Source.Run(ctx, func(cm *corev1.ConfigMap, err error) { d.takeWatched(ctx, cm, err) })
}

// Err says why what is in force is not what the ConfigMap says now, or why
// nothing was accepted yet; nil if all is well.
func (d *Document[T]) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// Missing says that nothing can be stored, for there is no ConfigMap to write to,
// where Err does not say so because nothing is in force. It is nil of a document
// that is not written here anyway.
func (d *Document[T]) Missing() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.gone || d.err != nil || d.ReadOnly {
		return nil
	}
	return fmt.Errorf("%s cannot be stored: %w", d.Noun, &MissingError{Source: d.Source, Noun: d.Noun})
}

// Watch returns a channel that receives after every change of what is in force or
// of Err; changes that come faster than they are received are one.
func (d *Document[T]) Watch() <-chan struct{} { return d.changes.Watch() }
