package samples

import (
	"context"
	"sync"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/internal/follow"
)

// noun names what is kept in messages.
const noun = "samples"

// shard is one of the ConfigMaps.
type shard struct {
	store    *Store
	number   int
	parser   parser
	document *document.Document[content]

	mu sync.Mutex
	// next gathers what is written when the present write is done; nil if there
	// is nothing.
	next *batch
	// writing tells that somebody does, and will write next.
	writing bool
	// unsound is whether Err of the document has said so since accept was called
	// last. Only accept and reject use it.
	unsound bool
	// overlay is what counts of a store that is read-only.
	overlay overlay
}

func newShard(s *Store, number int) *shard {
	h := &shard{store: s, number: number, parser: parser{config: &s.config, shard: number}, unsound: true}
	h.overlay.parser = parser{config: &s.config, shard: number}
	h.document = document.New(document.Config[content]{
		Source:   follow.ConfigMap{Client: s.config.Client, Namespace: s.config.Namespace, Name: s.config.name(number)},
		Noun:     noun,
		ReadOnly: s.config.ReadOnly,
		Clock:    s.config.Clock,
		Parse:    h.parser.parse,
		Accept:   h.accept,
		Reject:   h.reject,
		OnReject: s.config.OnReject,
	})
	return h
}

// accept puts in force what the ConfigMap says.
func (h *shard) accept(_ context.Context, c content) document.InForce {
	count := c.count()
	if h.store.config.ReadOnly {
		h.mu.Lock()
		defer h.mu.Unlock()
		c = h.overlay.rebase(c, h.store.currentLimits(), h.store.config.Clock.Now())
	}
	h.store.take(h.number, c)
	if h.unsound {
		h.unsound = false
		h.store.changes.Notify()
	}
	return document.InForce{Count: count}
}

func (h *shard) reject(context.Context, error) {
	h.unsound = true
	h.store.changes.Notify()
}
