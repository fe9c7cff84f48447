package vpa

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]safety.VPA{
		`{}`: {Active: true},
		`{spec: {updatePolicy: {updateMode: "Off"}}}`:                                                 {},
		`{spec: {updatePolicy: {updateMode: "Off"}, startupBoost: {cpu: {type: Factor, factor: 3}}}}`: {Boosts: true},
		`{spec: {resourcePolicy: {containerPolicies: [{containerName: "*", controlledResources: [memory]}, {containerName: a, mode: "Off", startupBoost: {cpu: {type: Factor}}}]}}}`: {
			Active: true, Boosts: true, Policies: []safety.VPAPolicy{{Container: "*", Resources: []string{"memory"}}, {Container: "a", Off: true}},
		},
		`{spec: {resourcePolicy: {containerPolicies: [3]}, updatePolicy: {updateMode: 3}}}`: {Active: true, Policies: []safety.VPAPolicy{{}}},
	} {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, From(&unstructured.Unstructured{Object: object}).Sizes); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
