package live

import (
	"bytes"
	"context"
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

// Send sends the part whenever next returns and it has changed, until the browser goes away or next fails.
func Send(w http.ResponseWriter, r *http.Request, next Part) {
	ctx, cancel := context.WithCancel(r.Context())
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel()
	w.Header().Set("Content-Type", "text/event-stream")
	changes := make(chan []byte)
	wait.Go(func() { follow(ctx, cancel, next, changes) })
	flush := http.NewResponseController(w)
	beats := time.NewTicker(beat)
	defer beats.Stop()
	for {
		event := "event: beat\ndata:\n\n"
		select {
		case <-ctx.Done():
			return
		case tree := <-changes:
			event = fmt.Sprintf("data: %s\n\n", tree)
		case <-beats.C:
		}
		if _, err := w.Write([]byte(event)); err != nil || flush.Flush() != nil {
			return
		}
	}
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
