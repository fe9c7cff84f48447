package owners

import (
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// reference is an object's reference to its controller.
type reference struct {
	kind schema.GroupKind
	name string
	uid  types.UID
}

// kind is a kind of objects. Each kind has its own pointer, even if two have the same name.
type kind struct{ name string }

// object is all that is kept of an object: there may be a hundred thousand ReplicaSets.
// Values that many objects share are stored once.
type object struct {
	kind      *kind
	namespace unique.Handle[string]
	name      string
	uid       types.UID
	// controller is the zero Handle if there is none.
	controller unique.Handle[reference]
}

func newObject(kind *kind, meta *metav1.ObjectMeta) *object {
	o := &object{kind: kind, namespace: unique.Make(meta.Namespace), name: meta.Name, uid: meta.UID}
	if owner := metav1.GetControllerOfNoCopy(meta); owner != nil {
		o.controller = unique.Make(reference{schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind(), owner.Name, owner.UID})
	}
	return o
}

// above returns the object's reference to its controller; false if it has none.
func (o *object) above() (reference, bool) {
	if o.controller == (unique.Handle[reference]{}) {
		return reference{}, false
	}
	return o.controller.Value(), true
}

// is reports whether a reference from a namespace refers to this object: nothing else checks
// references.
func (o *object) is(namespace string, to *reference) bool {
	within := o.namespace.Value()
	return o.uid == to.uid && o.kind.name == to.kind.Kind && o.name == to.name && (within == namespace || within == "")
}

// GetObjectMeta implements metav1.ObjectMetaAccessor. The reflector needs the name of each
// object while it reads the first objects.
func (o *object) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: o.namespace.Value(), Name: o.name}
}
