package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// Least is the least time between two changes that are sent.
	Least = 500 * time.Millisecond
	// beat is how often the browser hears that the process runs.
	beat = 10 * time.Second
)

// Part is the current state of a part of a page, as HTML.
type Part func(context.Context) (string, error)

// Streams sends the streams of one process.
type Streams struct {
	process context.Context
	// Proof is in each event. A page has it from the process that served it, and sends it to nobody, so that another process that listens
	// on the same port later cannot continue the streams.
	Proof string
}

// New returns the streams of a process that serves until ctx ends.
func New(ctx context.Context) *Streams { return &Streams{process: ctx, Proof: rand.Text()} }

// event is what the browser receives of an event, whose tree is nil if nothing has changed.
type event struct {
	Proof string          `json:"proof"`
	Tree  json.RawMessage `json:"tree,omitempty"`
}

// Send sends the part whenever next returns and it has changed, until the browser goes away or next fails. It also sends that the process
// runs and, at last, that it has ended: the browser must not ask again then.
func (s *Streams) Send(w http.ResponseWriter, r *http.Request, next Part) {
	ctx, cancel := context.WithCancel(r.Context())
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel()
	w.Header().Set("Content-Type", "text/event-stream")
	changes := make(chan []byte)
	wait.Go(func() { follow(ctx, cancel, next, changes) })
	beats := time.NewTicker(beat)
	defer beats.Stop()
	for alive := s.write(w, "beat", nil); alive; {
		select {
		case <-ctx.Done():
			if s.process.Err() != nil {
				s.write(w, "ended", nil)
			}
			return
		case tree := <-changes:
			alive = s.write(w, "message", tree)
		case <-beats.C:
			alive = s.write(w, "beat", nil)
		}
	}
}

// write writes an event, and reports whether the browser still reads.
func (s *Streams) write(w http.ResponseWriter, name string, tree []byte) bool {
	data, err := json.Marshal(event{s.Proof, tree})
	if err != nil {
		return false
	}
	_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
	return err == nil && http.NewResponseController(w).Flush() == nil
}

// follow passes on the trees of the part that differ from those before, with a pause after each.
func follow(ctx context.Context, cancel func(), next Part, changes chan<- []byte) {
	defer cancel()
	var last []byte
	for ctx.Err() == nil {
		text, err := next(ctx)
		if err != nil {
			return
		}
		tree, err := Tree(text)
		if err != nil {
			return
		}
		if bytes.Equal(tree, last) {
			continue
		}
		select {
		case changes <- tree:
			last = tree
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(Least):
		case <-ctx.Done():
			return
		}
	}
}
