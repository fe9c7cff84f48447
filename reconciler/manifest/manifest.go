package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	// Pod is the pod that the API server would create, treated as running.
	Pod *pod.Pod
}

// Read reads objects as YAML or JSON, separated by ---, and the items of Lists. A pod
// without a controller gets a controller of ownerKind, with a warning. Errors name the
// document and its line. Text without objects is not an error.
func Read(text []byte, ownerKind string) (*Manifest, error) {
	all, err := documents(text)
	if err != nil {
		return nil, err
	}
	r := &reader{ownerKind: ownerKind}
	for i := range all {
		if err := r.object(all[i].json, false); err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].where(), err)
		}
	}
	return &r.found, nil
}

type reader struct {
	ownerKind string
	found     Manifest
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
	} `json:"metadata"`
	// Items are the items of a List.
	Items []json.RawMessage `json:"items"`
}

func (h *header) name() string {
	if h.Metadata.Name == "" {
		return h.Metadata.GenerateName
	}
	return h.Metadata.Name
}

// String returns the kind and name of the object.
func (h *header) String() string { return strings.TrimSpace(h.Kind + " " + h.name()) }

func (r *reader) object(text []byte, inList bool) error {
	var h header
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &h); err != nil {
		return errors.New("must be a Kubernetes object: " + withoutTypes(err))
	}
	if h.APIVersion == "" || h.Kind == "" {
		return errors.New("must be a Kubernetes object with apiVersion and kind")
	}
	if h.APIVersion == "v1" && h.Kind == "List" {
		if inList {
			return errors.New("a List must not contain another List: move its items up")
		}
		for i, item := range h.Items {
			if err := r.object(item, true); err != nil {
				return fmt.Errorf("items[%d]: %w", i, err)
			}
		}
		return nil
	}
	newMaker, ok := makers[h.APIVersion+" "+h.Kind]
	if !ok {
		r.found.Ignored = append(r.found.Ignored, h.String())
		return nil
	}
	made := newMaker()
	if err := r.decode(text, made); err != nil {
		return fmt.Errorf("%s: %w", &h, err)
	}
	return r.add(&h, made)
}

// goTypes matches the end of an error that says which Go type a value does not fit.
var goTypes = regexp.MustCompile(`^json: cannot unmarshal (\w+) into Go (?:struct field \w+\.([\w.]+) of type .*|value of type .*)$`)

// withoutTypes returns an error about JSON without the types of Go: users know only their manifests.
func withoutTypes(err error) string {
	match := goTypes.FindStringSubmatch(err.Error())
	switch {
	case match == nil:
		return err.Error()
	case match[2] == "":
		return "it is of type " + match[1]
	}
	return match[2] + " is of type " + match[1]
}

// decode reads an object. Unknown and duplicate fields are errors.
func (r *reader) decode(text []byte, into any) error {
	if err := checkCost(text, &r.structures); err != nil {
		return err
	}
	strict, err := kjson.UnmarshalStrict(text, into)
	return errors.Join(append(strict, err)...)
}

// add adds an object and the pod that it creates.
func (r *reader) add(h *header, made maker) error {
	meta, template, owner := made.pods()
	if template == nil {
		return fmt.Errorf("%s: spec.template must be set", h)
	}
	object := Object{Kind: h.Kind, Namespace: meta.Namespace, Name: h.name()}
	asMade := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: meta.Namespace, Name: h.name(), Labels: template.Labels, Annotations: template.Annotations, OwnerReferences: template.OwnerReferences,
	}, Spec: template.Spec}
	switch {
	case owner != "":
		asMade.OwnerReferences = controlledBy(owner, h.name())
	case metav1.GetControllerOfNoCopy(asMade) == nil:
		asMade.OwnerReferences = controlledBy(r.ownerKind, h.name())
		object.Warnings = append(object.Warnings, "a pod without a controller is never resized; this plan assumes a controller of kind "+r.ownerKind)
	}
	setDefaults(&asMade.Spec)
	if err := check(&asMade.Spec); err != nil {
		return fmt.Errorf("%s: %w", h, err)
	}
	object.Pod = pod.Imagined(asMade)
	r.found.Objects = append(r.found.Objects, object)
	return nil
}

func controlledBy(kind, name string) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: map[string]string{"Job": "batch/v1", "ReplicationController": "v1"}[kind], Kind: kind, Name: name, Controller: &yes}}
}
