package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

func (k *Keeper) api() corev1client.ConfigMapInterface {
	return k.config.Client.ConfigMaps(k.config.Namespace)
}

// write writes one shard that is due, or deletes a ConfigMap that is no longer needed.
func (k *Keeper) write(ctx context.Context, store *usage.Store, leading func() bool, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	fast := now.Add(k.config.Interval / writes)
	if k.complete() {
		if c := k.leftover(); c != nil {
			k.pause = fast
			return join(append(k.failures[:], k.remove(ctx, c))...)
		}
		if k.shrinks() {
			k.count /= 2
			clear(k.failures[k.count:])
		}
	}
	k.pause = now.Add(k.config.Interval / time.Duration(k.count))
	if !k.complete() {
		k.pause = fast
	}
	index, due := k.due(now)
	if !due {
		k.pause = time.Time{}
		return join(k.failures[:]...)
	}
	err := k.save(ctx, store, leading, index, now)
	for errors.Is(err, errLarge) && k.count < most {
		k.count *= 2
		index, k.pause = k.count-1, fast
		err = k.save(ctx, store, leading, index, now)
	}
	if k.failures[index] = err; err != nil {
		k.retry[index] = now.Add(k.config.Interval / 10)
	}
	return join(k.failures[:]...)
}

// due returns the shard to write next, and whether it is time for it. Those that are not stored as one
// of the current number of shards come first.
func (k *Keeper) due(now time.Time) (index int, due bool) {
	for index = k.count - 1; index >= 0; index-- {
		if !k.right(index) && k.safe(index) && !now.Before(k.retry[index]) {
			return index, true
		}
	}
	oldest := time.Time{}
	for i := range k.count {
		_, c := k.target(i)
		if !k.right(i) || now.Before(c.current.Add(k.age(c))) || now.Before(k.retry[i]) {
			continue
		}
		if !due || c.current.Before(oldest) {
			index, due, oldest = i, true, c.current
		}
	}
	return index, due
}

// age is how old the content of a ConfigMap may become. The first history is stored soon.
func (k *Keeper) age(c *stored) time.Duration {
	if c.containers == 0 && c.trends.sum == (sum{}) && c.companion.sum == (sum{}) {
		return k.config.Interval / 10
	}
	return k.config.Interval
}

// target returns the name of the ConfigMap that a shard is written to, and what is known of it, or nil.
func (k *Keeper) target(index int) (string, *stored) {
	n := name(k.config.Prefix, index, false)
	c := k.knownAs(n)
	if c != nil && c.err != nil {
		n = name(k.config.Prefix, index, true)
		c = k.knownAs(n)
	}
	return n, c
}

// right reports whether a shard is stored as one of the current number of shards.
func (k *Keeper) right(index int) bool {
	_, c := k.target(index)
	return c != nil && c.err == nil && c.index == index && c.count == k.count
}

// complete reports whether right is true of all shards.
func (k *Keeper) complete() bool {
	for index := range k.count {
		if !k.right(index) {
			return false
		}
	}
	return true
}

// safe reports whether a shard can be written without losing containers: its ConfigMap may have some that
// now belong to other shards, and those must be written first. From the last shard to the first, this is
// true of one after the other.
func (k *Keeper) safe(index int) bool {
	_, c := k.target(index)
	if c == nil || c.err != nil {
		return true
	}
	rest := c.covers() &^ header{index: index, count: k.count}.covers()
	for i := range k.count {
		if k.right(i) {
			rest &^= header{index: i, count: k.count}.covers()
		}
	}
	return rest == 0
}

// shrinks reports whether half of the shards are enough by far.
func (k *Keeper) shrinks() bool {
	size := 0
	for index := range k.count {
		_, c := k.target(index)
		if size += c.bytes(); c.later() {
			return false // They would be lost with their ConfigMap.
		}
	}
	return k.count > 1 && size < k.count*k.full/8
}

// leftover returns a ConfigMap whose containers are now all stored in others, or nil.
func (k *Keeper) leftover() *stored {
	for _, c := range k.shards() {
		needed := false
		for index := range k.count {
			_, t := k.target(index)
			needed = needed || t == c || t.covers()&c.covers() != 0 && !t.current.After(c.written) && !t.written.After(c.written)
		}
		if !needed {
			return c
		}
	}
	return nil
}

// save writes a shard if it has changed.
func (k *Keeper) save(ctx context.Context, store *usage.Store, leading func() bool, index int, now time.Time) error {
	target, known := k.target(index)
	if known != nil && known.err != nil {
		return fmt.Errorf("nothing is stored in place of ConfigMap %s/%s, since %s cannot be read either", k.config.Namespace, name(k.config.Prefix, index, false), target)
	}
	h := header{written: now, index: index, count: k.count}
	if !now.After(k.last) {
		h.written = k.last.Add(1) // The clock of another leader was ahead.
	}
	limit := k.full
	if k.count == most {
		limit = k.fullest
	}
	var b []byte
	var sum sum
	has, err := k.pack(store, h, math.MaxInt)
	same := false
	for {
		if err == nil {
			sum = k.packer.sum()
			if same = k.right(index) && known.sum == sum && known.size <= limit; same {
				break
			}
			b, err = k.packer.finish(h, limit)
		}
		if !errors.Is(err, errLarge) || k.count < most || has.share == 1 {
			break
		}
		// No namespace may prevent that the history of others is stored.
		has, err = k.pack(store, h, max(1, has.share*3/4))
	}
	if err != nil {
		return k.failed(target, err)
	}
	size := len(b)
	if same {
		size = known.size
	}
	past, err := k.past(store, h, known, k.roomiest-size)
	if err != nil {
		return k.failed(target, err)
	}
	with, err := k.packCompanion(h, k.roomiest-size-past.size)
	if err != nil {
		return k.failed(target, err)
	}
	leftOut := join(has.leftOut(k.config.Namespace, target), past.leftOut(k.config.Namespace, target), with.leftOut(k, target))
	if same {
		if known.trends.sum == past.sum && known.companion.sum == with.sum {
			return join(k.look(ctx, target), leftOut)
		}
		if b, err = k.packer.finish(h, limit); err != nil {
			return k.failed(target, err)
		}
	}
	cm := applycorev1.ConfigMap(target, k.config.Namespace).WithLabels(k.config.Labels).WithBinaryData(k.data(b, past, with))
	// The API server refuses the write if another replica has written since. Where there was
	// nothing, no version is right, so that it only creates.
	cm.WithResourceVersion(absent)
	if known != nil {
		cm.WithUID(known.uid).WithResourceVersion(known.resourceVersion)
	}
	if !leading() {
		return nil
	}
	written, err := k.api().Apply(ctx, cm, metav1.ApplyOptions{FieldManager: k.config.FieldManager, Force: true})
	if apierrors.IsConflict(err) {
		return k.look(ctx, target)
	}
	if err != nil {
		k.tried = h
		return k.failed(target, err)
	}
	k.last = h.written
	k.know(&stored{
		header: h, name: target, uid: written.UID, resourceVersion: written.ResourceVersion, progress: k.packed, unknown: k.unknownOf(h),
		sum: sum, size: len(b), containers: has.containers, trends: past.known(known), trendsErr: known.laterErr(), companion: companion{sum: with.sum, size: with.size}, current: now,
	})
	return leftOut
}

// absent is a resource version that no ConfigMap has.
const absent = "1"

// failed returns the error of a write.
func (k *Keeper) failed(target string, err error) error {
	return fmt.Errorf("write ConfigMap %s/%s: %w", k.config.Namespace, target, err)
}

// portion is the part of a shard's containers that fits.
type portion struct {
	// containers is how many fit, of all, and share how many of them are of one namespace at most.
	containers, all, share int
}

// leftOut returns an error if containers are left out.
func (p portion) leftOut(namespace, name string) error {
	if p.containers == p.all {
		return nil
	}
	return fmt.Errorf("ConfigMap %s/%s stores the history of %d of %d containers, %d of a namespace at most: the others do not fit, and their history begins again after a restart", namespace, name, p.containers, p.all, p.share)
}

// pack packs the content of a shard, with at most so many containers of each namespace.
func (k *Keeper) pack(store *usage.Store, h header, share int) (p portion, err error) {
	// Before the containers: what is read in the meantime is read again, and does not count.
	k.packed = store.Progress()
	if err := k.packer.begin(k.packed, k.unknownOf(h)); err != nil {
		return portion{}, err
	}
	all := slices.DeleteFunc(store.Containers(), func(c history.Container) bool { return !h.has(c) })
	slices.SortFunc(all, history.Container.Compare)
	p.all = len(all)
	of, n := "", 0
	for _, c := range all {
		if c.Namespace != of {
			of, n = c.Namespace, 0
		}
		if n++; n > share {
			continue
		}
		p.containers, p.share = p.containers+1, max(p.share, n)
		if err != nil {
			continue // It is too large. Only the share is still of interest.
		}
		err = store.Read(c, func(h *history.State, ratios []string) error {
			return k.packer.add(&container{c, ratios, h})
		})
		if err != nil && !errors.Is(err, errLarge) {
			return portion{}, err
		}
	}
	return p, err
}

// unknownOf returns what a later version has stored with the containers of a shard. If the number of shards
// changes, it stays with each of them.
func (k *Keeper) unknownOf(h header) []byte {
	for _, c := range k.shards() {
		if c.covers()&h.covers() != 0 {
			return c.unknown
		}
	}
	return nil
}

// look finds out whether a ConfigMap is what it was. If a newer leader has written it, this replica must
// not write until it has read what that leader stored, and still leads.
func (k *Keeper) look(ctx context.Context, name string) error {
	cm, err := k.api().Get(ctx, name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("read ConfigMap %s/%s: %w", k.config.Namespace, name, err)
	}
	known, now := k.knownAs(name), k.config.Clock.Now()
	soon := now.Add(k.config.Interval / writes)
	if err != nil {
		k.forget(name)
		k.pause = soon
		return nil
	}
	switch c, _ := k.read(cm); {
	case c == known:
		same := *c
		same.current = now
		k.know(&same)
	case c.err == nil && c.written.After(k.last) && c.header != k.tried:
		k.setCaughtUp(false)
		k.pause = time.Time{}
	default:
		if k.last.Before(c.written) {
			k.last = c.written
		}
		k.know(c)
		k.pause = soon
	}
	return nil
}

// remove deletes a ConfigMap, unless another replica has written it.
func (k *Keeper) remove(ctx context.Context, c *stored) error {
	err := k.api().Delete(ctx, c.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &c.uid, ResourceVersion: &c.resourceVersion}})
	if apierrors.IsConflict(err) {
		return k.look(ctx, c.name)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete ConfigMap %s/%s: %w", k.config.Namespace, c.name, err)
	}
	k.forget(c.name)
	return nil
}
