package mover

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
)

// bookKey is the key of the ConfigMap that has the entries of the book, as JSON.
const bookKey = "evictions.json"

// keeper keeps the book.
type keeper interface {
	// run follows the book until ctx is done.
	run(ctx context.Context)
	// last returns the last known book, which must not be changed, and why it may be outdated.
	last() (*evict.Book, error)
	// update changes the book, and stores it if change reports that it has. change may be called more than once.
	update(ctx context.Context, change func(*evict.Book) bool) error
}

// store keeps the book in a ConfigMap. In a dry run, it keeps it in memory.
type store struct {
	document *document.Document[*evict.Book]
	dry      bool

	mu   sync.Mutex
	book *evict.Book
	err  error
}

func newStore(m *Mover) *store {
	s := &store{dry: m.DryRun, book: &evict.Book{}}
	if s.dry {
		return s
	}
	s.err = fmt.Errorf("evictions are %w", document.ErrUnread)
	s.document = document.New(document.Config[*evict.Book]{
		Source: follow.ConfigMap{Client: m.Watcher, Namespace: m.Namespace, Name: m.Name}, Noun: "evictions", Clock: m.Clock, Parse: parse, OnReject: m.OnReject,
		Accept: func(_ context.Context, book *evict.Book) document.InForce {
			if book == nil {
				book = &evict.Book{}
			}
			s.set(book, nil)
			m.lookSoon()
			return document.InForce{Count: len(book.Entries)}
		},
		Reject: func(ctx context.Context, err error) {
			klog.FromContext(ctx).Error(err, "Evictions cannot be read; no pod is evicted until they can be read")
			s.set(nil, err)
		},
	})
	return s
}

func (s *store) set(book *evict.Book, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err = err; book != nil {
		s.book = book
	}
}

// run implements keeper.
func (s *store) run(ctx context.Context) {
	if s.dry {
		<-ctx.Done()
		return
	}
	if err := s.document.Run(ctx); err != nil && ctx.Err() == nil {
		s.set(nil, err)
		klog.FromContext(ctx).Error(err, "Evictions are no longer followed")
	}
}

// last implements keeper.
func (s *store) last() (*evict.Book, error) {
	s.mu.Lock()
	book, err := s.book, s.err
	s.mu.Unlock()
	if err == nil && s.document != nil {
		err = s.document.Missing()
	}
	return book, err
}

// update implements keeper.
func (s *store) update(ctx context.Context, change func(*evict.Book) bool) error {
	if s.dry {
		book, _ := s.last()
		book = book.Clone()
		change(book)
		s.set(book, nil)
		return nil
	}
	return s.document.Update(ctx, document.Turn{}, func(stored *evict.Book, _ map[string]string) (map[string]string, error) {
		book := stored.Clone()
		if !change(book) {
			return nil, nil
		}
		text, err := json.Marshal(book.Entries)
		if err != nil {
			return nil, err
		}
		return map[string]string{bookKey: string(text)}, nil
	})
}

// parse reads the data of the ConfigMap.
func parse(data map[string]string) (*evict.Book, error) {
	book := &evict.Book{}
	for key := range data {
		if key != bookKey {
			return nil, fmt.Errorf("%s: unknown key", key)
		}
	}
	if err := document.Decode(data[bookKey], &book.Entries); err != nil {
		return nil, fmt.Errorf("%s: %w", bookKey, err)
	}
	for i := range book.Entries {
		if e := &book.Entries[i]; e.Namespace == "" || e.Workload.Kind == "" || e.Node == "" || e.Reason == "" || e.Pod == "" || e.UID == "" || e.At.IsZero() {
			return nil, fmt.Errorf("%s: entry %d: namespace, workload, node, reason, pod, uid and at must be set", bookKey, i)
		}
	}
	return book, nil
}
