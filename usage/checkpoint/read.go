package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/usage"
)

// key is the key of the data in a ConfigMap.
const key = "usage"

// Resource versions of reads.
const (
	newest = ""
	cached = "0" // what the API server has in memory, which may be old
)

// concurrent is how many ConfigMaps are read at a time.
const concurrent = 8

// load reads ConfigMaps and passes what is new to the store. The error is not about those that
// cannot be read.
func (k *Keeper) load(ctx context.Context, store *usage.Store, names []string, version string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var mu sync.Mutex
	found := map[*stored]*usage.State{}
	var group errgroup.Group
	group.SetLimit(concurrent)
	for _, name := range names {
		group.Go(func() error {
			cm, err := k.api().Get(ctx, name, metav1.GetOptions{ResourceVersion: version})
			if apierrors.IsNotFound(err) {
				k.forget(name)
				return nil
			}
			if err != nil {
				return fmt.Errorf("read ConfigMap %s/%s: %w", k.config.Namespace, name, err)
			}
			c, state := k.read(cm)
			mu.Lock()
			defer mu.Unlock()
			found[c] = state
			return nil
		})
	}
	err := group.Wait()
	k.take(store, found, version == newest)
	k.incomplete = err != nil
	return err
}

// read returns what a ConfigMap has. The state is nil if that is known or cannot be read.
func (k *Keeper) read(cm *corev1.ConfigMap) (*stored, *usage.State) {
	if known := k.knownAs(cm.Name); !k.incomplete && known != nil && known.uid == cm.UID && known.resourceVersion == cm.ResourceVersion {
		return known, nil
	}
	c := &stored{name: cm.Name, uid: cm.UID, resourceVersion: cm.ResourceVersion, size: len(cm.BinaryData[key])}
	fail := func(err error) (*stored, *usage.State) {
		c.err = &UnreadableError{k.config.Namespace, cm.Name, err}
		return c, nil
	}
	header, content, sum, err := unpack(cm.BinaryData[key])
	if err != nil {
		return fail(err)
	}
	state := usage.NewState()
	if err := content.addTo(state, k.config.Clock.Now()); err != nil {
		return fail(fmt.Errorf("%w: %w", errDamaged, err))
	}
	c.header, c.progress, c.unknown, c.sum, c.containers, c.current = header, content.progress, content.unknown, sum, len(content.forms), header.written
	state.Trends, state.About = k.readTrends(c, cm.BinaryData[trendsKey]), header.about
	c.companion = k.readCompanion(cm.BinaryData)
	if now := k.config.Clock.Now(); c.current.After(now) {
		c.current = now // The clock of the replica that wrote it was ahead.
	}
	return c, state
}

// take passes states to the store, from the oldest to the newest one: a container may be in several.
func (k *Keeper) take(store *usage.Store, found map[*stored]*usage.State, newest bool) {
	all := make([]*stored, 0, len(found))
	for c := range found {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *stored) int { return a.written.Compare(b.written) })
	taken := false
	for _, c := range all {
		known, state := k.knownAs(c.name), found[c]
		later := k.incomplete || known == nil || known.err != nil || c.written.After(known.written)
		if state != nil && later {
			store.Restore(state)
			if state.Trends != nil {
				store.RestoreTrends(state.Trends, state.About)
			}
			k.restoreCompanion(c)
			taken = true
		}
		if newest || later || c.err != nil {
			k.know(c)
		}
		if k.last.Before(c.written) {
			k.last = c.written
		}
	}
	if taken {
		store.SetProgress(progress(k.shards()))
		k.taken.Notify()
	}
}

// names returns the names of the ConfigMaps that are known, and of those that should exist. In place of
// one that cannot be read, a second one should.
func (k *Keeper) names() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	count := 1
	for _, c := range k.known {
		count = max(count, c.count)
	}
	return slices.DeleteFunc(Names(k.config.Prefix), func(n string) bool {
		for index := range count {
			first := name(k.config.Prefix, index, false)
			unreadable := k.known[first] != nil && k.known[first].err != nil
			if n == first || unreadable && n == name(k.config.Prefix, index, true) {
				return false
			}
		}
		return k.known[n] == nil
	})
}

// shards returns the ConfigMaps that can be read, from the newest to the oldest one.
func (k *Keeper) shards() (all []*stored) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.known {
		if c.err == nil {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *stored) int { return b.written.Compare(a.written) })
	return all
}

// knownAs returns what is known of a ConfigMap, or nil.
func (k *Keeper) knownAs(name string) *stored {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[name]
}

func (k *Keeper) know(c *stored) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[c.name] = c
}

func (k *Keeper) forget(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.known, name)
}
