package document

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
	"github.com/workload-resizer/workload-resizer/internal/fair"
	"github.com/workload-resizer/workload-resizer/internal/follow"
)

// Config configures a Document. All fields must be set.
type Config[T any] struct {
	// Source is the ConfigMap that stores the document. The client must be allowed
	// to list, watch, get and patch it, and must not limit the duration of a watch.
	Source follow.ConfigMap
	// Noun names the entries of the document in messages, e.g. "holds".
	Noun string
	// ReadOnly makes Update return a ReadOnlyError.
	ReadOnly bool
	// Clock determines when an entry expires.
	Clock clock.Clock
	// Parse reads the data of the ConfigMap. For empty data, it returns content
	// without entries. The zero T must have no entries either.
	Parse func(data map[string]string) (T, error)
	// Accept applies the entries of valid content that have not expired. It is
	// called when there is new content and when an entry expires, never
	// concurrently, and must not call the document.
	Accept func(ctx context.Context, content T) InForce
	// Reject receives the reason why the last good content stays in effect. It
	// is called under the same conditions as Accept.
	Reject func(context.Context, error)
	// OnReject receives invalid content and what is wrong with it. It must not block.
	OnReject func(*corev1.ConfigMap, error)
}

// InForce describes the entries that are in effect.
type InForce struct {
	// Count is the number of entries.
	Count int
	// Expires is when the next entry expires; zero if none does.
	Expires time.Time
}

// Document follows a document and changes it. All methods are safe for concurrent
// use at any time.
type Document[T any] struct {
	Config[T]
	// rearm receives when the time of the next expiry may have changed.
	rearm chan struct{}
	// writing has the only write in progress in this process, and those that wait
	// for it as long as their callers do.
	writing *fair.Queue

	mu sync.Mutex
	// content is the last good content, including expired entries.
	content T
	inForce InForce
	// known is the state that content or err comes from.
	known known
	err   error
	// latest is the ConfigMap in that state; nil if there is none.
	latest *corev1.ConfigMap
	// gone reports whether there is no ConfigMap to write to.
	gone    bool
	changes broadcast.Broadcast
}

// New returns a document whose content is unknown until Run or Update.
func New[T any](c Config[T]) *Document[T] {
	return &Document[T]{Config: c, rearm: make(chan struct{}, 1), writing: fair.NewQueue(1, 0), err: fmt.Errorf("%s are %w", c.Noun, ErrUnread)}
}

// Run follows the ConfigMap until ctx is done; then it returns nil. A ConfigMap
// that is missing from the start counts as a document without entries.
func (d *Document[T]) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var expiring sync.WaitGroup
	defer expiring.Wait()
	defer cancel()
	expiring.Go(func() { d.expire(ctx) })
	return d.Source.Run(ctx, func(cm *corev1.ConfigMap, err error) { d.takeWatched(ctx, cm, err) })
}

// Err returns why the content in effect differs from the current ConfigMap, or why
// no content was accepted yet. It returns nil if neither is the case.
func (d *Document[T]) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// Missing returns an error if nothing can be stored because the ConfigMap does not
// exist. If entries are in effect, Err reports this instead, and Missing returns nil.
// It also returns nil if this process never writes the document.
func (d *Document[T]) Missing() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.gone || d.err != nil || d.ReadOnly {
		return nil
	}
	return fmt.Errorf("%s cannot be stored: %w", d.Noun, &MissingError{Source: d.Source, Noun: d.Noun})
}

// Watch returns a channel that receives after every change to the content in effect or
// to Err. Changes that happen faster than they are received are merged into one.
func (d *Document[T]) Watch() <-chan struct{} { return d.changes.Watch() }
