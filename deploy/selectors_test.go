package deploy

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

func TestSelectors(t *testing.T) {
	t.Run("selectors match only the server's pods", selectorsMatchOnlyTheServersPods)
}

func selectorsMatchOnlyTheServersPods(t *testing.T) {
	for _, of := range overlays {
		t.Run(of, func(t *testing.T) {
			manifest := built(t, of, components(t)...)
			selectors := map[string]*metav1.LabelSelector{
				"Service":             {MatchLabels: only[corev1.Service](t, manifest, "Service").Spec.Selector},
				"PodDisruptionBudget": only[policyv1.PodDisruptionBudget](t, manifest, "PodDisruptionBudget").Spec.Selector,
				"NetworkPolicy":       &only[networkingv1.NetworkPolicy](t, manifest, "NetworkPolicy").Spec.PodSelector,
			}
			for _, spread := range server(t, manifest).Spec.TopologySpreadConstraints {
				selectors["spread over "+spread.TopologyKey] = spread.LabelSelector
			}
			if len(selectors) != 5 {
				t.Errorf("got selectors of %v, want 5", slices.Collect(maps.Keys(selectors)))
			}
			all := templates(t, manifest)
			if len(all) < 2 {
				t.Errorf("got templates %v, want at least 2", slices.Collect(maps.Keys(all)))
			}
			for what, selector := range selectors {
				parsed, err := metav1.LabelSelectorAsSelector(selector)
				if err != nil {
					t.Fatal(err)
				}
				for name, template := range all {
					if got, want := parsed.Matches(labels.Set(template.Labels)), strings.HasPrefix(name, "Deployment/"); got != want {
						t.Errorf("%s selects pods of %s: %t", what, name, got)
					}
				}
			}
			monitor := single(t, manifest, "ServiceMonitor")
			wanted, _, err := unstructured.NestedStringMap(monitor.Object, "spec", "selector", "matchLabels")
			if err != nil || len(wanted) == 0 || !labels.SelectorFromSet(wanted).Matches(labels.Set(only[corev1.Service](t, manifest, "Service").Labels)) {
				t.Errorf("the ServiceMonitor selects %v, %v", wanted, err)
			}
		})
	}
}
