package charts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Differences on purpose: kustomize creates the namespace, has no uninstall, and no hook that creates
// the ConfigMap with the ratios once.
const asKustomize = "namespace: {create: true}\nstate: {keep: false}\nconfig: {create: false}\n"

func TestChartMatchesKustomize(t *testing.T) {
	t.Run("the chart creates the same objects as kustomize", theChartCreatesTheSameObjectsAsKustomize)
}

func theChartCreatesTheSameObjectsAsKustomize(t *testing.T) {
	for _, tc := range []struct {
		name, resource string
		components     []string
		values         string
	}{
		{name: "the base", resource: "base"},
		{name: "the node agent", resource: "base", components: []string{"bench-node"}, values: "benchNode: {enabled: true}"},
		{
			name: "the node agent that labels its node", resource: "base", components: []string{"bench-node", "cpu-model-label"},
			values: "benchNode: {enabled: true, labelNode: true}",
		},
		{
			name: "the node agent behind a startup taint", resource: "base", components: []string{"bench-node", "startup-taint"},
			values: "benchNode: {enabled: true, startupTaint: true}",
		},
		{name: "the agent that reports usage", resource: "base", components: []string{"report-usage"}, values: "reportUsage: {enabled: true}"},
		{name: "originals written by the API server", resource: "base", components: []string{"stamp-originals"}, values: "stampOriginals: {enabled: true}"},
		{name: "a taint on overloaded nodes", resource: "base", components: []string{"overloaded-taint"}, values: "overloadedTaint: {enabled: true}"},
		{name: "VerticalPodAutoscalers as policies", resource: "base", components: []string{"vpa-objects"}, values: "vpaObjects: {enabled: true}"},
		{name: "evictions", resource: "base", components: []string{"evict-pods"}, values: "evictPods: {enabled: true}"},
		{name: "sizes at creation", resource: "base", components: []string{"size-at-creation"}, values: "sizeAtCreation: {enabled: true}"},
		{name: "a network policy", resource: "base", components: []string{"network-policy"}, values: "networkPolicy: {enabled: true}"},
		{name: "certificates of cert-manager", resource: "base", components: []string{"cert-manager"}, values: "tls: {mode: certManager}"},
		{
			name: "monitoring", resource: "base", components: []string{"monitoring"},
			values: "monitoring: {serviceMonitor: {enabled: true}, prometheusRule: {enabled: true}, dashboard: {enabled: true}}",
		},
		{name: "high availability", resource: "overlays/high-availability", values: "replicas: 3"},
		{name: "the replacement of the published controller", resource: "overlays/drop-in", values: "dropIn: {enabled: true}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			manifest, err := rendered(t, namespace, asKustomize+tc.values)
			if err != nil {
				t.Fatal(err)
			}
			want := parsed(t, kustomized(t, tc.resource, tc.components...))
			if diff := cmp.Diff(want, parsed(t, manifest)); diff != "" {
				t.Errorf("-kustomize +helm\n%s", diff)
			}
		})
	}
}
