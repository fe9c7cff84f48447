package fair

import "container/list"

// recent remembers values by key: those that were used last.
type recent[K comparable, V any] struct {
	most int
	// byKey has the elements of order, which has *entries, the least recently used first.
	byKey map[K]*list.Element
	order list.List
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{most: most, byKey: map[K]*list.Element{}}
}

// use returns the value of a key, which is a zero value if it is not remembered.
func (r *recent[K, V]) use(key K) *V {
	e, ok := r.byKey[key]
	if !ok {
		e = r.order.PushBack(&entry[K, V]{key: key})
		r.byKey[key] = e
		if len(r.byKey) > r.most {
			r.forgetOldest()
		}
	}
	r.order.MoveToBack(e)
	return &e.Value.(*entry[K, V]).value
}

// oldest returns the least recently used value. There must be one.
func (r *recent[K, V]) oldest() *V { return &r.order.Front().Value.(*entry[K, V]).value }

func (r *recent[K, V]) forgetOldest() {
	delete(r.byKey, r.order.Remove(r.order.Front()).(*entry[K, V]).key)
}
