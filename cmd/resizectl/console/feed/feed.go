package feed

import (
	"context"
	"sync"
	"time"
)

// linger is how long a feed goes on without anybody who looks at it: a page that was left is often opened again.
const linger = 10 * time.Second

// Read returns the current answer.
type Read func(context.Context) (any, error)

// State is what a feed knows.
type State struct {
	// Value is the last answer; nil if there was none yet.
	Value any
	// Time is when it arrived.
	Time time.Time
	// Err is why there is no later one; nil if there is no reason.
	Err error
}

// Feeds are feeds by their keys. Those who look at the same key share a feed.
type Feeds struct {
	ctx   context.Context
	pause func(took time.Duration, err error) time.Duration

	mu  sync.Mutex
	all map[string]*feed
}

// New returns feeds that read until ctx ends, and pause after each read.
func New(ctx context.Context, pause func(took time.Duration, err error) time.Duration) *Feeds {
	return &Feeds{ctx: ctx, pause: pause, all: map[string]*feed{}}
}

// feed reads one thing. The lock of its Feeds guards it.
type feed struct {
	state State
	// number counts the states. changed is closed when the next one exists.
	number  int
	changed chan struct{}
	// watches is how many look at it.
	watches int
	cancel  context.CancelFunc
}

// Watch is somebody who looks at a feed.
type Watch struct {
	of   *Feeds
	key  string
	feed *feed
	// seen is the number of the last state that was returned.
	seen int
	once sync.Once
}

// Watch begins to look at a feed, which reads with read if nobody looks at it yet. Close must be called.
func (f *Feeds) Watch(key string, read Read) *Watch {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.all[key]
	if one == nil {
		ctx, cancel := context.WithCancel(f.ctx)
		one = &feed{changed: make(chan struct{}), cancel: cancel}
		f.all[key] = one
		go f.follow(ctx, one, read)
	}
	one.watches++
	return &Watch{of: f, key: key, feed: one}
}

// follow reads until ctx ends.
func (f *Feeds) follow(ctx context.Context, one *feed, read Read) {
	for {
		begin := time.Now()
		value, err := read(ctx)
		if ctx.Err() != nil {
			return
		}
		f.publish(one, value, err)
		select {
		case <-time.After(f.pause(time.Since(begin), err)):
		case <-ctx.Done():
			return
		}
	}
}

func (f *Feeds) publish(one *feed, value any, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		one.state = State{Value: value, Time: time.Now()}
	} else {
		one.state.Err = err
	}
	one.number++
	close(one.changed)
	one.changed = make(chan struct{})
}

// Next returns a state that was not returned yet, once there is one.
func (w *Watch) Next(ctx context.Context) (State, error) {
	for {
		w.of.mu.Lock()
		state, number, changed := w.feed.state, w.feed.number, w.feed.changed
		w.of.mu.Unlock()
		if number > w.seen {
			w.seen = number
			return state, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return State{}, ctx.Err()
		case <-w.of.ctx.Done():
			return State{}, w.of.ctx.Err()
		}
	}
}

// Close ends the watch. If nobody looks at the feed for a while then, it ends, too.
func (w *Watch) Close() {
	w.once.Do(func() {
		w.of.mu.Lock()
		defer w.of.mu.Unlock()
		if w.feed.watches--; w.feed.watches == 0 {
			time.AfterFunc(linger, w.end)
		}
	})
}

// end ends the feed, unless somebody looks at it.
func (w *Watch) end() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	if w.feed.watches == 0 && w.of.all[w.key] == w.feed {
		w.feed.cancel()
		delete(w.of.all, w.key)
	}
}
