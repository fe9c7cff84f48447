package samples

import (
	"context"
	"sync"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/internal/follow"
)

// noun is the word for the stored items in messages.
const noun = "samples"

// shard is one of the ConfigMaps.
type shard struct {
	store    *Store
	number   int
	parser   parser
	document *document.Document[content]

	mu sync.Mutex
	// next collects the rows to write after the current write; nil if there are
	// none.
	next *batch
	// writing means that writeAll is running and will write next.
	writing bool
	// unsound means that the document has had an error since the last call of
	// accept. Only accept and reject use it.
	unsound bool
	// overlay has the content in effect of a read-only store.
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

// accept puts the content of the ConfigMap into effect.
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
