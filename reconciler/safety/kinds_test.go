package safety

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestNames(t *testing.T) {
	apps, kruise := schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, schema.GroupKind{Group: "apps.kruise.io", Kind: "StatefulSet"}
	for _, tc := range []struct {
		name  string
		names []string
		kind  schema.GroupKind
		want  bool
	}{
		{"a plain name is the kind of Kubernetes", []string{"Job", "StatefulSet"}, apps, true},
		{"a plain name is not a kind of another group", []string{"StatefulSet"}, kruise, false},
		{"a group selects its kind", []string{"StatefulSet.apps.kruise.io"}, kruise, true},
		{"a group selects no other kind", []string{"StatefulSet.apps.kruise.io", "StatefulSet.apps.kruise.io.example.com"}, apps, false},
		{"the group of Kubernetes can be written", []string{"StatefulSet.apps"}, apps, true},
		{"a kind of the core group", []string{"ReplicationController"}, schema.GroupKind{Kind: "ReplicationController"}, true},
		{"a plain custom kind is one of any group", []string{"CloneSet"}, schema.GroupKind{Group: "apps.kruise.io", Kind: "CloneSet"}, true},
		{"another kind", []string{"CloneSet"}, apps, false},
		{"no names", nil, apps, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Names(tc.names, tc.kind); got != tc.want {
				t.Errorf("%v names %v: %v", tc.names, tc.kind, got)
			}
		})
	}
}

func TestKindName(t *testing.T) {
	for want, kind := range map[string]schema.GroupKind{
		"Job":                     {Group: "batch", Kind: "Job"},
		"Job.batch.volcano.sh":    {Group: "batch.volcano.sh", Kind: "Job"},
		"ReplicationController":   {Kind: "ReplicationController"},
		"CloneSet.apps.kruise.io": {Group: "apps.kruise.io", Kind: "CloneSet"},
		"Node":                    {Kind: "Node"},
	} {
		if got := KindName(kind); got != want {
			t.Errorf("%v is %s, want %s", kind, got, want)
		}
	}
}
