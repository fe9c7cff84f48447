package charts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNetworkPolicy(t *testing.T) {
	t.Run("the network policy restricts metrics but not the API", theNetworkPolicyRestrictsMetricsButNotTheAPI)
}

func theNetworkPolicyRestrictsMetricsButNotTheAPI(t *testing.T) {
	manifest, err := rendered(t, namespace, `
networkPolicy:
  enabled: true
  metricsFrom:
    - namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}
      podSelector: {matchLabels: {app.kubernetes.io/name: prometheus}}
`)
	if err != nil {
		t.Fatal(err)
	}
	got := parsed(t, manifest)["networking.k8s.io/v1 NetworkPolicy "+namespace+"/workload-resizer"]["spec"].(object)["ingress"]
	want := []any{
		object{"ports": []any{object{"port": "grpc"}}},
		object{"ports": []any{object{"port": "webhook"}}},
		object{
			"ports": []any{object{"port": "http"}},
			"from": []any{object{
				"namespaceSelector": object{"matchLabels": object{"kubernetes.io/metadata.name": "monitoring"}},
				"podSelector":       object{"matchLabels": object{"app.kubernetes.io/name": "prometheus"}},
			}},
		},
	}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
