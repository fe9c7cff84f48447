package owners

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// store stores the objects of one kind that a reflector delivers in the graph. Only the
// reflector calls it, never concurrently.
type store struct {
	graph *graph
	kind  *kind
	// changed is called with the uid of each object whose pods may have other workloads
	// than before.
	changed func(types.UID)
	// filled is called after all objects were read.
	filled func()
}

var _ cache.TransformingStore = &store{}

// Transformer implements cache.TransformingStore: objects are trimmed one by one as they
// arrive, so that the complete objects are never all in memory at the same time.
func (s *store) Transformer() cache.TransformFunc { return s.trim }

func (s *store) trim(obj any) (any, error) { return s.object(obj) }

func (s *store) object(obj any) (*object, error) {
	switch o := obj.(type) {
	case *object:
		return o, nil
	case *metav1.PartialObjectMetadata:
		return newObject(s.kind, &o.ObjectMeta), nil
	}
	return nil, fmt.Errorf("must be the metadata of an object of kind %s, not %T", s.kind.name, obj)
}

// Add implements cache.ReflectorStore.
func (s *store) Add(obj any) error {
	o, err := s.object(obj)
	if err != nil {
		return err
	}
	for _, uid := range s.graph.set(o) {
		s.changed(uid)
	}
	return nil
}

// Update implements cache.ReflectorStore.
func (s *store) Update(obj any) error { return s.Add(obj) }

// Delete implements cache.ReflectorStore.
func (s *store) Delete(obj any) error {
	o, err := s.object(obj)
	if err != nil {
		return err
	}
	s.graph.remove(o.uid)
	return nil
}

// clear removes all objects of the kind from the graph.
func (s *store) clear() { s.graph.forget(s.kind) }

// Replace implements cache.ReflectorStore.
func (s *store) Replace(all []any, _ string) error {
	gone := s.graph.of(s.kind)
	for _, obj := range all {
		o, err := s.object(obj)
		if err != nil {
			return err
		}
		delete(gone, o.uid)
		if err := s.Add(o); err != nil {
			return err
		}
	}
	for uid := range gone {
		s.graph.remove(uid)
	}
	s.filled()
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *store) Resync() error { return nil }
