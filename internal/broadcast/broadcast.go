// Package broadcast notifies watchers that something has changed, but not what.
//
// It must not know what changes.
package broadcast

import "sync"

// Broadcast notifies its watchers of each change. The zero Broadcast has no watchers.
type Broadcast struct {
	mu      sync.Mutex
	watches []chan struct{}
}

// Watch returns a channel that receives after every change. Changes that happen faster
// than they are received are merged into one.
func (b *Broadcast) Watch() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := make(chan struct{}, 1)
	b.watches = append(b.watches, w)
	return w
}

// Notify notifies all watchers. It never blocks.
func (b *Broadcast) Notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.watches {
		select {
		case w <- struct{}{}:
		default: // The watcher has not received the previous change yet.
		}
	}
}
