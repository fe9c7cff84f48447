package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// custom is an object of a kind that is not built in, with a pod template where Deployments have it. Its other
// fields are not known.
type custom struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Template *corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
	owner metav1.TypeMeta
}

func (o *custom) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string, metav1.TypeMeta) {
	return &o.ObjectMeta, o.Spec.Template, inTemplate, o.owner
}

// misnamed returns why an object of this kind does not create pods, although it is meant to: it names a built-in
// kind in a different case, or in a version or group of Kubernetes that does not have it.
func misnamed(h *header, group string) *fault {
	for known := range makers {
		if !strings.EqualFold(known.Kind, h.Kind) || strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") {
			continue
		}
		if known.Kind != h.Kind {
			return &fault{path: "kind", problem: fmt.Sprintf("%.64q is not known: use %s", h.Kind, known.Kind)}
		}
		return &fault{path: "apiVersion", problem: fmt.Sprintf("%.64q has no kind %s that can be planned: use %s", h.APIVersion, h.Kind, known.APIVersion)}
	}
	return nil
}

// resourceOf returns the resource of a kind, as its plural usually is.
func resourceOf(gvk schema.GroupVersionKind) schema.GroupResource {
	plural, singular := meta.UnsafeGuessKindToResource(gvk)
	switch name := singular.Resource; {
	case endsIn(name, "ay", "ey", "oy", "uy"):
		plural.Resource = name + "s"
	case endsIn(name, "ch", "sh", "x", "z"):
		plural.Resource = name + "es"
	}
	return plural.GroupResource()
}

func endsIn(text string, endings ...string) bool {
	return slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(text, ending) })
}

// templatesOnly are the kinds of Kubernetes that have pod templates and create no pods.
var templatesOnly = []metav1.TypeMeta{{APIVersion: "v1", Kind: "PodTemplate"}, {APIVersion: "apps/v1", Kind: "ControllerRevision"}}

// customMaker returns what reads an object of a kind that is named; nil if it is not named.
func (r *reader) customMaker(gvk schema.GroupVersionKind) *custom {
	switch {
	case safety.Names(r.options.OwnerKinds, gvk.GroupKind()):
		return &custom{owner: metav1.TypeMeta{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind}}
	case slices.Contains(r.options.WorkloadKinds, resourceOf(gvk)):
		return &custom{owner: replicaSets}
	}
	return nil
}

// unplanned returns the warning about an object that seems to create pods but is not planned; empty if it
// does not seem so. In a group of Kubernetes, which are those without a dot, it is a fault: the API server
// does not know the kind either.
func unplanned(h *header, gvk schema.GroupVersionKind, text json.RawMessage) (warning string, _ *fault) {
	switch named := slices.Contains(Planned(), h.Kind); {
	case !named && !templates(text), slices.Contains(templatesOnly, metav1.TypeMeta{APIVersion: h.APIVersion, Kind: h.Kind}):
		return "", nil
	case !strings.Contains(gvk.Group, "."):
		return "", &fault{path: "kind", problem: fmt.Sprintf("%.64q is not known: use one of %s", h.Kind, strings.Join(Planned(), ", "))}
	}
	return fmt.Sprintf("not planned: apiVersion %s, kind %s seems to create pods, but is not known: add %s to --workload-kinds if it has a spec.template", h.APIVersion, h.Kind, resourceOf(gvk)), nil
}

// templates reports whether there is a pod template anywhere in JSON: a field template or …Template, of an
// object, with spec.containers.
func templates(text json.RawMessage) bool {
	if !strings.Contains(string(text), "emplate\"") {
		return false
	}
	var inside func(value any, field string) bool
	inside = func(value any, field string) bool {
		switch v := value.(type) {
		case []any:
			return slices.ContainsFunc(v, func(item any) bool { return inside(item, "") })
		case map[string]any:
			spec, _ := v["spec"].(map[string]any)
			if containers, _ := spec["containers"].([]any); strings.HasSuffix(field, "emplate") && len(containers) > 0 {
				return true
			}
			for key, inner := range v {
				if inside(inner, key) {
					return true
				}
			}
		}
		return false
	}
	var value any
	return json.Unmarshal(text, &value) == nil && inside(value, "")
}
