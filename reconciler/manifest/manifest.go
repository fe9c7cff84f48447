package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Manifest is the content of a manifest.
type Manifest struct {
	// Objects are the objects that create pods, in the order of the text.
	Objects []Object
	// Ignored lists the other objects, as "Kind name".
	Ignored []string
}

// Object is an object that creates pods.
type Object struct {
	// Namespace is empty if the object does not name one.
	Kind, Namespace, Name string
	// Warnings are messages for the user.
	Warnings []string
	// Pod is the pod that the API server would create, treated as running; nil if the kind is not planned.
	Pod *pod.Pod
}

// Options are the kinds to read besides the built-in ones, and where objects are.
type Options struct {
	// OwnerKinds name the kinds of controllers whose pods are resized, as safety.Names reads them. A pod without a
	// controller gets one of the first kind.
	OwnerKinds []string
	// WorkloadKinds are the resources that may control these.
	WorkloadKinds []schema.GroupResource
	// Namespace is the namespace of objects that name none; empty for none.
	Namespace string
}

// Read reads objects as YAML or JSON, separated by ---, and the items of lists. A pod
// without a controller gets a controller, with a warning. Errors name the
// document and the line. Text without objects is not an error.
func Read(text []byte, options Options) (*Manifest, error) {
	all, err := documents(text)
	if err != nil {
		return nil, err
	}
	r := &reader{options: options}
	for i := range all {
		if f := r.object(all[i].json, &header{}, ""); f != nil {
			return nil, all[i].located(f)
		}
	}
	return &r.found, nil
}

type reader struct {
	options Options
	found   Manifest
	// structures is how many objects and arrays the decoded objects have.
	structures int
}

// header has the fields that identify an object.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name         string `json:"name"`
		GenerateName string `json:"generateName"`
		Namespace    string `json:"namespace,omitempty"`
	} `json:"metadata"`
	// Items are the items of a List.
	Items []json.RawMessage `json:"items,omitempty"`
}

func (h *header) name() string {
	if h.Metadata.Name == "" {
		return h.Metadata.GenerateName
	}
	return h.Metadata.Name
}

// String returns the kind and name of the object.
func (h *header) String() string { return strings.TrimSpace(h.Kind + " " + h.name()) }

// object reads an object. The items of a list, such as a DeploymentList, have its kind unless they say otherwise.
func (r *reader) object(text []byte, list *header, item string) *fault {
	var h header
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &h); err != nil {
		return notAnObject(text, item, err)
	}
	if h.Kind == "" && h.APIVersion == "" && list.Kind != "List" {
		h.APIVersion, h.Kind = list.APIVersion, strings.TrimSuffix(list.Kind, "List")
	}
	if h.APIVersion == "" || h.Kind == "" {
		return &fault{item: item, problem: "must be a Kubernetes object with apiVersion and kind"}
	}
	gv, err := schema.ParseGroupVersion(h.APIVersion)
	if err != nil {
		return &fault{item: item, object: h.String(), path: "apiVersion", problem: fmt.Sprintf("%.64q is not GROUP/VERSION", h.APIVersion)}
	}
	if strings.HasSuffix(h.Kind, "List") && (h.APIVersion == "v1" && h.Kind == "List" || h.Items != nil && h.name() == "") {
		return r.list(&h, item)
	}
	f := r.single(text, &h, gv.WithKind(h.Kind))
	if f != nil {
		f.item, f.object = item, h.String()
	}
	return f
}

// notAnObject returns the fault of a value that has no header of an object.
func notAnObject(text []byte, item string, err error) *fault {
	f := misfit(text, reflect.TypeFor[header](), "")
	switch {
	case f == nil:
		f = &fault{problem: "must be a Kubernetes object: " + err.Error()}
	case f.path == "":
		f.problem = "must be a Kubernetes object: " + f.problem
	}
	f.item = item
	return f
}

func (r *reader) list(h *header, item string) *fault {
	if item != "" {
		return &fault{item: item, problem: "a List must not contain another List: move its items up"}
	}
	for i, text := range h.Items {
		if f := r.object(text, h, fmt.Sprintf("items[%d]", i)); f != nil {
			return f
		}
	}
	return nil
}

// single reads an object that is no list.
func (r *reader) single(text []byte, h *header, gvk schema.GroupVersionKind) *fault {
	if newMaker, ok := makers[metav1.TypeMeta{APIVersion: h.APIVersion, Kind: h.Kind}]; ok {
		made := newMaker()
		if f := r.decode(text, made); f != nil {
			return f
		}
		return r.add(h, made, "")
	}
	if f := misnamed(h, gvk.Group); f != nil {
		return f
	}
	if made := r.customMaker(gvk); made != nil {
		return r.addCustom(text, h, made)
	}
	warning, f := unplanned(h, gvk, text)
	if f != nil {
		return f
	}
	if warning != "" {
		r.warn(h, warning)
		return nil
	}
	r.found.Ignored = append(r.found.Ignored, h.String())
	return nil
}

// addCustom adds an object of a kind that is not built in.
func (r *reader) addCustom(text []byte, h *header, made *custom) *fault {
	if f := checkCost(text, &r.structures); f != nil {
		return f
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, made); err != nil {
		return misfitOr(text, made, err)
	}
	if made.Spec.Template == nil {
		r.warn(h, fmt.Sprintf("not planned: this %s of apiVersion %s has no spec.template", h.Kind, h.APIVersion))
		return nil
	}
	warning := ""
	if made.owner.Kind != h.Kind {
		warning = fmt.Sprintf("this plan assumes that a %s controls the pods of a %s", made.owner.Kind, h.Kind)
	}
	return r.add(h, made, warning)
}

// warn adds an object that is not planned.
func (r *reader) warn(h *header, warning string) {
	r.found.Objects = append(r.found.Objects, Object{Kind: h.Kind, Namespace: cmp.Or(h.Metadata.Namespace, r.options.Namespace), Name: h.name(), Warnings: []string{warning}})
}

// decode reads an object. Unknown and duplicate fields are errors.
func (r *reader) decode(text []byte, into maker) *fault {
	if f := checkCost(text, &r.structures); f != nil {
		return f
	}
	strict, err := kjson.UnmarshalStrict(text, into)
	if err != nil {
		return misfitOr(text, into, err)
	}
	if len(strict) == 0 {
		return nil
	}
	f := &fault{problem: errors.Join(strict...).Error()}
	// Such as: unknown field "spec.containers[0].resourcs".
	if _, path, ok := strings.Cut(strict[0].Error(), `field "`); ok && len(strict) == 1 {
		f.path, f.problem = strings.TrimSuffix(path, `"`), strings.TrimSuffix(strict[0].Error(), ` "`+path)
	} else if ok {
		f.within = strings.TrimSuffix(path, `"`)
	}
	return f
}

// misfitOr returns where the text does not fit an object, or else the error of the decoder.
func misfitOr(text []byte, into maker, err error) *fault {
	if f := misfit(text, reflect.TypeOf(into), ""); f != nil {
		return f
	}
	return &fault{problem: err.Error()}
}

// add adds an object and the pod that it creates.
func (r *reader) add(h *header, made maker, warning string) *fault {
	meta, template, at, owner := made.pods()
	if template == nil {
		return &fault{path: "spec.template", problem: "must be set"}
	}
	if h.name() == "" {
		return &fault{path: "metadata.name", problem: "must be set"}
	}
	meta.Namespace = cmp.Or(meta.Namespace, r.options.Namespace)
	object := Object{Kind: h.Kind, Namespace: meta.Namespace, Name: h.name()}
	if warning != "" {
		object.Warnings = append(object.Warnings, warning)
	}
	asMade := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: meta.Namespace, Name: h.name(), Labels: template.Labels, Annotations: template.Annotations, OwnerReferences: template.OwnerReferences,
	}, Spec: template.Spec}
	switch {
	case owner.Kind != "":
		asMade.OwnerReferences = controlledBy(owner, h.name())
	case metav1.GetControllerOfNoCopy(asMade) == nil:
		assumed := r.options.assumed()
		asMade.OwnerReferences = controlledBy(assumed, h.name())
		object.Warnings = append(object.Warnings, "a pod without a controller is never resized; this plan assumes a controller of kind "+assumed.Kind)
	}
	setDefaults(&asMade.Spec)
	if f := check(at, &asMade.Spec); f != nil {
		return f
	}
	object.Pod = pod.Imagined(asMade)
	r.found.Objects = append(r.found.Objects, object)
	return nil
}

// assumed returns the controller of pods without one.
func (o Options) assumed() metav1.TypeMeta {
	kind := schema.ParseGroupKind(o.OwnerKinds[0])
	for of := range makers {
		if of.Kind == kind.Kind && kind.Group == "" {
			return of
		}
	}
	return metav1.TypeMeta{APIVersion: schema.GroupVersion{Group: kind.Group, Version: "v1"}.String(), Kind: kind.Kind}
}

func controlledBy(owner metav1.TypeMeta, name string) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: name, Controller: &yes}}
}
